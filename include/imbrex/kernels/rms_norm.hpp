// Root mean square normalisation (Zhang, Sennrich 2019).
#pragma once

#include <cmath>

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y_j = x_j / sqrt(mean(x^2) + eps) * (weight_offset + weight_j), row by row; y may be x.
/// `weight_offset` is 1 where checkpoints store the weight's distance from 1 (Gemma's safetensors).
/// The mean is taken in double. Throws ConfigError as active_isa does.
inline void rms_norm(Rows y, ConstRows x, const float* weight, float eps, float weight_offset = 0) {
  const Norm& kernel = active_kernels().norm;
  for_each_row(y.rows, y.cols, [&](index_t i) {
    const double mean = kernel.squares(x.row(i), x.cols, 0) / static_cast<double>(x.cols);
    const float factor = static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(eps)));
    kernel.apply({y.row(i), x.row(i), weight, nullptr, y.cols, 0, factor, weight_offset});
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
