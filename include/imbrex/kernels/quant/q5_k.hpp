// Q5_K: as Q4_K, with a fifth bit for each number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/scales_k.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// In group g = i / 32: x_i = d scale_g q_i - dmin offset_g. The lower four bits of q_i lie as in
/// Q4_K; the fifth of number l of group g is bit g of high[l].
struct BlockQ5_K {
  static constexpr Dtype dtype = Dtype::q5_k;
  f16 d, dmin;
  std::uint8_t scales[12];
  std::uint8_t high[32];
  std::uint8_t q[128];

  static BlockQ5_K load(const std::byte* bytes) {
    BlockQ5_K block;
    load_members(bytes, block.d, block.dmin, block.scales, block.high, block.q);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ5_K>);

/// Writes 256 numbers.
inline void decode_block(const BlockQ5_K& block, float* out) {
  const float d = to_float(block.d), dmin = to_float(block.dmin);
  for (int g = 0; g < 8; ++g) {
    const ScaleK factors = scale_k(block.scales, g);
    const float scale = d * static_cast<float>(factors.scale);
    const float offset = dmin * static_cast<float>(factors.offset);
    const std::uint8_t* q = block.q + (g / 2) * 32;
    const int shift = g % 2 * 4;
    float* x = out + g * 32;
    for (int l = 0; l < 32; ++l) {
      const int number = ((q[l] >> shift) & 15) | (((block.high[l] >> g) & 1) << 4);
      x[l] = scale * static_cast<float>(number) - offset;
    }
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
