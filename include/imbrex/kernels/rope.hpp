// Rotary position embedding (Su et al. 2021).
#pragma once

#include <cmath>

#include "imbrex/base/rope_pairs.hpp"
#include "imbrex/kernels/arch/table.hpp"
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
/// double: in float, position 10^6 would know its angle to a sixteenth of a radian only. Throws
/// ConfigError as active_isa does.
inline void rope(Heads x, const index_t* positions, const float* frequencies, index_t rotary_dims,
                 RopePairs pairs, float magnitude = 1) {
  const Rope& kernel = active_kernels().rope;
  const FindTurns find = kernel.find[static_cast<int>(pairs)];
  const TurnHeads turn = kernel.turn[static_cast<int>(pairs)];
  const index_t all = rotary_dims / 2, step = pairs == RopePairs::half ? 1 : 2;
  const double fastest = tiles::largest_frequency(frequencies, all);
  for_each_row(x.rows, x.heads * rotary_dims, [&](index_t t) {
    const double position = static_cast<double>(positions[t]);
    const bool beyond = !(std::abs(position) * fastest < far_angle);
    for (index_t i = 0; i < all; i += most_turns) {
      const index_t count = lesser(all - i, most_turns);
      Turns turns;  // shared by the heads
      if (beyond) {
        tiles::find_far_turns(turns, position, frequencies + i, count, magnitude, pairs);
      } else {
        find(turns, position, frequencies + i, count, magnitude);
      }
      turn({x.at(t, 0) + step * i, step == 1 ? all : 1, x.heads, x.head_stride, count}, turns);
    }
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
