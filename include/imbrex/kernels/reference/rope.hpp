// Rotary position embedding (Su et al. 2021) as plain loops, in double.
#pragma once

#include <cmath>

#include "imbrex/base/rope_pairs.hpp"
#include "imbrex/kernels/operands.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// Turns pair i of every head of row t, in place, by the angle positions[t] * frequencies[i]:
/// (a, b) <- magnitude * (a cos - b sin, a sin + b cos). Components from `rotary_dims` on stay.
inline void rope(Heads x, const index_t* positions, const float* frequencies, index_t rotary_dims,
                 RopePairs pairs, float magnitude = 1) {
  for (index_t t = 0; t < x.rows; ++t) {
    for (index_t h = 0; h < x.heads; ++h) {
      for (index_t i = 0; i < rotary_dims / 2; ++i) {
        const bool interleaved = pairs == RopePairs::interleaved;
        float& first = x.at(t, h)[interleaved ? 2 * i : i];
        float& second = x.at(t, h)[interleaved ? 2 * i + 1 : i + rotary_dims / 2];
        const double angle =
            static_cast<double>(positions[t]) * static_cast<double>(frequencies[i]);
        const double c = std::cos(angle) * static_cast<double>(magnitude);
        const double s = std::sin(angle) * static_cast<double>(magnitude);
        const double a = static_cast<double>(first), b = static_cast<double>(second);
        first = static_cast<float>(a * c - b * s);
        second = static_cast<float>(a * s + b * c);
      }
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
