// Rotary position embedding (Su et al. 2021).
#pragma once

#include "imbrex/base/rope_pairs.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/rope.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Turns pair i of every head of row t, in place, by the angle positions[t] * frequencies[i]:
///
///     (a, b) <- magnitude * (a cos - b sin, a sin + b cos)
///
/// for the first `rotary_dims` components (even, at most head_dim); the others stay. There are
/// rotary_dims / 2 frequencies, in radians per position. Angles, sines and cosines are computed in
/// double: in float, position 10^6 would know its angle to a sixteenth of a radian only.
inline void rope(Heads x, const index_t* positions, const float* frequencies, index_t rotary_dims,
                 RopePairs pairs, float magnitude = 1) {
  for_each_row(x.rows, x.heads * rotary_dims, [&](index_t t) {
    const double position = static_cast<double>(positions[t]);
    for (index_t i = 0; i < rotary_dims / 2; i += tiles::Turns::capacity) {
      const index_t count = lesser(rotary_dims / 2 - i, tiles::Turns::capacity);
      // Shared by the heads.
      const tiles::Turns turns = tiles::turns_of(position, frequencies, i, count, magnitude);
      for (index_t h = 0; h < x.heads; ++h) tiles::turn(x.at(t, h), turns, rotary_dims, pairs);
    }
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
