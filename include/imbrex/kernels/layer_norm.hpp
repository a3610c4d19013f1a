// Layer normalisation (Ba, Kiros, Hinton 2016).
#pragma once

#include <cmath>

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y_j = (x_j - mean) / sqrt(variance + eps) * weight_j + bias_j, row by row, with the variance of
/// the population (divided by n); `bias` may be null, y may be x. Statistics in double, the
/// variance in a second pass around the mean. Throws ConfigError as active_isa does.
inline void layer_norm(Rows y, ConstRows x, const float* weight, const float* bias, float eps) {
  const Norm& kernel = active_kernels().norm;
  for_each_row(y.rows, y.cols, [&](index_t i) {
    const double n = static_cast<double>(x.cols);
    const double mean = kernel.sum(x.row(i), x.cols) / n;
    const double variance = kernel.squares(x.row(i), x.cols, mean) / n;
    const float factor = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(eps)));
    kernel.apply({y.row(i), x.row(i), weight, bias, y.cols, static_cast<float>(mean), factor, 0});
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
