// Layer normalisation (Ba, Kiros, Hinton 2016).
#pragma once

#include <cmath>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/lanes.hpp"
#include "imbrex/kernels/tiles/moments.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y_j = (x_j - mean) / sqrt(variance + eps) * weight_j + bias_j, row by row, with the variance of
/// the population (divided by n); `bias` may be null, y may be x. Statistics in double, the
/// variance in a second pass around the mean.
inline void layer_norm(Rows y, ConstRows x, const float* weight, const float* bias, float eps) {
  for_each_row(y.rows, y.cols, [&](index_t i) {
    const double n = static_cast<double>(x.cols);
    const double mean = tiles::sum(x.row(i), x.cols) / n;
    const double variance = tiles::sum_of_squares(x.row(i), x.cols, mean) / n;
    const float factor = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(eps)));
    const float centre = static_cast<float>(mean);
    tiles::map(y.cols, y.row(i), x.row(i), weight,
               [=](tiles::Lanes v, tiles::Lanes w) { return (v - centre) * factor * w; });
    if (bias == nullptr) return;
    tiles::map(y.cols, y.row(i), y.row(i), bias,
               [](tiles::Lanes v, tiles::Lanes b) { return v + b; });
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
