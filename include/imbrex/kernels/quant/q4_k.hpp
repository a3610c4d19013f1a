// Q4_K: 256 numbers of 4 bits in 8 groups of 32, each group with a scale and an offset of 6 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/scales_k.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// In group g = i / 32: x_i = d scale_g q_i - dmin offset_g. Two groups share 32 bytes: the even
/// one has their low halves, the odd one their high halves.
struct BlockQ4_K {
  static constexpr Dtype dtype = Dtype::q4_k;
  f16 d, dmin;
  std::uint8_t scales[12];
  std::uint8_t q[128];

  static BlockQ4_K load(const std::byte* bytes) {
    BlockQ4_K block;
    load_members(bytes, block.d, block.dmin, block.scales, block.q);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ4_K>);

/// Writes 256 numbers.
inline void decode_block(const BlockQ4_K& block, float* out) {
  const float d = to_float(block.d), dmin = to_float(block.dmin);
  for (int g = 0; g < 8; ++g) {
    const ScaleK factors = scale_k(block.scales, g);
    const float scale = d * static_cast<float>(factors.scale);
    const float offset = dmin * static_cast<float>(factors.offset);
    const std::uint8_t* q = block.q + (g / 2) * 32;
    const int shift = g % 2 * 4;
    float* x = out + g * 32;
    for (int l = 0; l < 32; ++l) x[l] = scale * static_cast<float>((q[l] >> shift) & 15) - offset;
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
