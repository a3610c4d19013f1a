// Root mean square normalisation (Zhang, Sennrich 2019) as plain loops, in double.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/reference/math.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y_j = x_j / sqrt(mean(x^2) + eps) * (weight_offset + weight_j); y may be x.
constexpr void rms_norm(Rows y, ConstRows x, const float* weight, float eps,
                        float weight_offset = 0) {
  for (index_t i = 0; i < x.rows; ++i) {
    double squares = 0;
    for (index_t j = 0; j < x.cols; ++j) {
      const double v = static_cast<double>(x.row(i)[j]);
      squares += v * v;
    }
    const double mean = squares / static_cast<double>(x.cols);
    const double root = sqrt(mean + static_cast<double>(eps));
    for (index_t j = 0; j < x.cols; ++j) {
      const double w = static_cast<double>(weight_offset) + static_cast<double>(weight[j]);
      y.row(i)[j] = static_cast<float>(static_cast<double>(x.row(i)[j]) / root * w);
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
