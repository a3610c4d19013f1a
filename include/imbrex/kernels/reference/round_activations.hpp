// The rule by which activations are rounded to int8, as a plain loop.
#pragma once

#include <cmath>
#include <limits>

#include "imbrex/kernels/arch/parts/rounded.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// A block whose largest magnitude is below this is rounded to zeros: so neither d nor 127 / max
/// leaves the normal floats.
inline constexpr float least_rounded = 0x1p-119f;

/// x[i] = about d q[i], in blocks of 32 numbers with m = max |x[i]|:
///
///     d = m / 127,  q[i] = x[i] (127 / m)  to nearest, halves to even;  sum = sum of q[i]
///
/// each of the three operations rounded to float. |q| is at most 127, also where a program has
/// floats rounded upward, and |x[i] - d q[i]| at most d (1/2 + 2^-15). Where m < 2^-119, d and all
/// q are 0. Where an x[i] is infinite or NaN, d is NaN and all q are 0: d times any sum of integers
/// is NaN, so that no product with such a block is a number that looks right. n is a whole number
/// of blocks; `to` does not overlap x.
inline void round_activations(const float* x, index_t n, const RoundedRow& to) {
  for (index_t block = 0; block < n / rounded_block; ++block) {
    const float* in = x + block * rounded_block;
    std::int8_t* q = to.q + block * rounded_block;
    float most = 0;
    bool finite = true;
    for (index_t i = 0; i < rounded_block; ++i) {
      finite = finite && std::isfinite(in[i]);
      if (std::fabs(in[i]) > most) most = std::fabs(in[i]);
    }
    const bool rounds = finite && most >= least_rounded;
    const float scale = rounds ? 127.0f / most : 0.0f;
    to.d[block] = rounds ? most / 127.0f : finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
    to.sum[block] = 0;
    for (index_t i = 0; i < rounded_block; ++i) {
      q[i] = static_cast<std::int8_t>(rounds ? std::nearbyint(std::fmin(in[i] * scale, 127.0f))
                                             : 0.0f);
      to.sum[block] += q[i];
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
