// The angles of RoPE that an instruction set's own loops do not reach.
#pragma once

#include <cmath>

#include "imbrex/kernels/arch/parts/rope.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// The largest magnitude of n frequencies.
inline double largest_frequency(const float* frequencies, index_t n) {
  float most = 0;
  for (index_t i = 0; i < n; ++i) {
    const float f = std::abs(frequencies[i]);
    most = f > most ? f : most;
  }
  return static_cast<double>(most);
}

/// What FindTurns does, for angles of any size, by the C library.
inline void find_far_turns(Turns& turns, double position, const float* frequencies, index_t count,
                           float magnitude, RopePairs pairs) {
  for (index_t k = 0; k < count; ++k) {
    const double angle = position * static_cast<double>(frequencies[k]);
    const float cosine = static_cast<float>(std::cos(angle)) * magnitude;
    const float sine = static_cast<float>(std::sin(angle)) * magnitude;
    if (pairs == RopePairs::half) {
      turns.cosines[k] = cosine;
      turns.sines[k] = sine;
    } else {
      turns.cosines[2 * k] = turns.cosines[2 * k + 1] = cosine;
      turns.sines[2 * k] = -sine;
      turns.sines[2 * k + 1] = sine;
    }
  }
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
