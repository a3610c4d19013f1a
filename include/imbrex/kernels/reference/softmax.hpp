// Softmax of each row as plain loops, in double.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/reference/math.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y_j = e^(x_j - m) / sum_k e^(x_k - m), m = max x. A row of nothing but -inf gives zeros, a row
/// with a NaN gives NaN throughout.
constexpr void softmax(Rows y, ConstRows x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (index_t i = 0; i < x.rows; ++i) {
    double largest = -infinity, total = 0;
    for (index_t j = 0; j < x.cols; ++j) {
      const double v = static_cast<double>(x.row(i)[j]);
      if (!(v <= largest)) largest = v;  // a NaN too, unless something follows it
    }
    for (index_t j = 0; j < x.cols; ++j) {
      const double v = static_cast<double>(x.row(i)[j]);
      total += v == -infinity ? 0.0 : exp(v - largest);
    }
    for (index_t j = 0; j < x.cols; ++j) {
      const double v = static_cast<double>(x.row(i)[j]);
      const double weight = v == -infinity ? 0.0 : exp(v - largest);
      y.row(i)[j] = static_cast<float>(total == 0 ? 0.0 : weight / total);
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
