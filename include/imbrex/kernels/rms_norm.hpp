// Root mean square normalisation (Zhang, Sennrich 2019).
#pragma once

#include <cmath>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/lanes.hpp"
#include "imbrex/kernels/tiles/moments.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y_j = x_j / sqrt(mean(x^2) + eps) * (weight_offset + weight_j), row by row; y may be x.
/// `weight_offset` is 1 where checkpoints store the weight's distance from 1 (Gemma's safetensors).
/// The mean is taken in double.
inline void rms_norm(Rows y, ConstRows x, const float* weight, float eps, float weight_offset = 0) {
  for_each_row(y.rows, y.cols, [&](index_t i) {
    const double mean = tiles::sum_of_squares(x.row(i), x.cols, 0) / static_cast<double>(x.cols);
    const float factor = static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(eps)));
    tiles::map(y.cols, y.row(i), x.row(i), weight,
               [=](tiles::Lanes v, tiles::Lanes w) { return v * factor * (w + weight_offset); });
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
