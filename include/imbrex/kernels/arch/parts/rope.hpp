// What a set offers for RoPE: cosines and sines of angles, and heads turned by them.
#pragma once

#include "imbrex/base/index.hpp"
#include "imbrex/base/rope_pairs.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Pairs of a head that are turned at a time: all those of a head of 128; wider ones take several
/// turns.
inline constexpr index_t most_turns = 64;

/// What the pairs of one position are multiplied with. Where a and b lie side by side, so do their
/// factors: (cos, cos) and (-sin, sin).
struct Turns {
  alignas(64) float cosines[2 * most_turns], sines[2 * most_turns];
};

/// magnitude times the cosines and sines of position * frequencies[i], i < count, in double up to
/// their rounding to float. No angle is as large as far_angle.
inline constexpr double far_angle = 0x1p24;
using FindTurns = void (*)(Turns& turns, double position, const float* frequencies, index_t count,
                           float magnitude);

/// Turns `count` pairs of each head. The first pair of the first head is x[0] and x[second].
struct TurnedHeads {
  float* x;
  index_t second, heads, head_stride, count;
};
using TurnHeads = void (*)(const TurnedHeads& heads, const Turns& turns);

/// The parts of RoPE, by the value of RopePairs.
struct Rope {
  FindTurns find[2];
  TurnHeads turn[2];
};
static_assert(static_cast<int>(RopePairs::interleaved) == 0 &&
              static_cast<int>(RopePairs::half) == 1);

}  // namespace imbrex::kernels::inline IMBREX_ABI
