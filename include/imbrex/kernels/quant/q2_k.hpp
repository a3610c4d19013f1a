// Q2_K: 256 numbers of 2 bits in 16 groups of 16, each group with a scale and an offset of 4 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// In group g = i / 16, with s = scales[g]: x_i = d (s & 15) q_i - dmin (s >> 4). Each half of 128
/// numbers has 32 bytes of `q`: number 32 j + l of the half is bits 2j and 2j + 1 of byte l.
struct BlockQ2_K {
  static constexpr Dtype dtype = Dtype::q2_k;
  std::uint8_t scales[16];
  std::uint8_t q[64];
  f16 d, dmin;

  static BlockQ2_K load(const std::byte* bytes) {
    BlockQ2_K block;
    load_members(bytes, block.scales, block.q, block.d, block.dmin);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ2_K>);

/// Writes 256 numbers.
inline void decode_block(const BlockQ2_K& block, float* out) {
  const float d = to_float(block.d), dmin = to_float(block.dmin);
  for (int g = 0; g < 16; ++g) {
    const float scale = d * static_cast<float>(block.scales[g] & 15);
    const float offset = dmin * static_cast<float>(block.scales[g] >> 4);
    const std::uint8_t* q = block.q + (g / 8) * 32 + (g % 2) * 16;
    const int shift = (g / 2) % 4 * 2;
    float* x = out + g * 16;
    for (int l = 0; l < 16; ++l) x[l] = scale * static_cast<float>((q[l] >> shift) & 3) - offset;
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
