// Layer normalisation (Ba, Kiros, Hinton 2016) as plain loops, in double.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/reference/math.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y_j = (x_j - mean) / sqrt(variance + eps) * weight_j + bias_j, the variance divided by n; `bias`
/// may be null, y may be x.
constexpr void layer_norm(Rows y, ConstRows x, const float* weight, const float* bias, float eps) {
  const double n = static_cast<double>(x.cols);
  for (index_t i = 0; i < x.rows; ++i) {
    double sum = 0, squares = 0;
    for (index_t j = 0; j < x.cols; ++j) sum += static_cast<double>(x.row(i)[j]);
    const double mean = sum / n;
    for (index_t j = 0; j < x.cols; ++j) {
      const double distance = static_cast<double>(x.row(i)[j]) - mean;
      squares += distance * distance;
    }
    const double root = sqrt(squares / n + static_cast<double>(eps));
    for (index_t j = 0; j < x.cols; ++j) {
      const double v = (static_cast<double>(x.row(i)[j]) - mean) / root;
      const double b = bias == nullptr ? 0.0 : static_cast<double>(bias[j]);
      y.row(i)[j] = static_cast<float>(v * static_cast<double>(weight[j]) + b);
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
