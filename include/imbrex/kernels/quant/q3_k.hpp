// Q3_K: 256 numbers of 3 bits in 16 groups of 16, each group with a scale of 6 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// In group g = i / 16: x_i = d (s_g - 32) (q_i - 4). The lower two bits of q_i lie as in Q2_K; the
/// third of number 32 j + l is bit j of high[l].
struct BlockQ3_K {
  static constexpr Dtype dtype = Dtype::q3_k;
  std::uint8_t high[32];
  std::uint8_t q[64];
  std::uint8_t scales[12];
  f16 d;

  static BlockQ3_K load(const std::byte* bytes) {
    BlockQ3_K block;
    load_members(bytes, block.high, block.q, block.scales, block.d);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ3_K>);

/// The scale of group g, -32 to 31. Its lower four bits are half of byte g % 8 (the low half up to
/// g = 7), its upper two are bits 2 (g / 4) and 2 (g / 4) + 1 of byte 8 + g % 4.
constexpr int scale_q3_k(const std::uint8_t (&scales)[12], int g) {
  const int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4;
  const int high = (scales[8 + g % 4] >> (g / 4 * 2)) & 3;
  return (low | (high << 4)) - 32;
}

/// Writes 256 numbers.
inline void decode_block(const BlockQ3_K& block, float* out) {
  const float d = to_float(block.d);
  for (int g = 0; g < 16; ++g) {
    const float scale = d * static_cast<float>(scale_q3_k(block.scales, g));
    const std::uint8_t* q = block.q + (g / 8) * 32 + (g % 2) * 16;
    const std::uint8_t* high = block.high + (g % 2) * 16;
    const int shift = (g / 2) % 4 * 2, bit = g / 2;
    float* x = out + g * 16;
    for (int l = 0; l < 16; ++l) {
      const int number = ((q[l] >> shift) & 3) | (((high[l] >> bit) & 1) << 2);
      x[l] = scale * (static_cast<float>(number) - 4.0f);
    }
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
