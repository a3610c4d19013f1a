// Q6_K: 256 numbers of 6 bits in 16 groups of 16, each group with a scale of 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// In group g = i / 16: x_i = d scales[g] (q_i - 32). Each half of 128 numbers has 64 bytes of
/// `low` and 32 of `high`. Number 32 j + l of the half: lower four bits in byte 32 (j % 2) + l of
/// `low`, its low half up to j = 1; upper two are bits 2j and 2j + 1 of byte l of `high`.
struct BlockQ6_K {
  static constexpr Dtype dtype = Dtype::q6_k;
  std::uint8_t low[128];
  std::uint8_t high[64];
  std::int8_t scales[16];
  f16 d;

  static BlockQ6_K load(const std::byte* bytes) {
    BlockQ6_K block;
    load_members(bytes, block.low, block.high, block.scales, block.d);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ6_K>);

/// Writes 256 numbers.
inline void decode_block(const BlockQ6_K& block, float* out) {
  const float d = to_float(block.d);
  for (int g = 0; g < 16; ++g) {
    const float scale = d * static_cast<float>(block.scales[g]);
    const int half = g / 8, j = g % 8 / 2, start = g % 2 * 16;
    const std::uint8_t* low = block.low + half * 64 + j % 2 * 32 + start;
    const std::uint8_t* high = block.high + half * 32 + start;
    const int low_shift = j / 2 * 4, high_shift = j * 2;
    float* x = out + g * 16;
    for (int l = 0; l < 16; ++l) {
      const int number = ((low[l] >> low_shift) & 15) | (((high[l] >> high_shift) & 3) << 4);
      x[l] = scale * (static_cast<float>(number) - 32.0f);
    }
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
