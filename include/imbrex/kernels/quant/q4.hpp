// Q4_0 and Q4_1: 32 numbers of 4 bits with one scale, and in Q4_1 an offset.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// x_i = d (q_i - 8). Numbers 0 to 15 are the low halves of the bytes, 16 to 31 the high halves.
struct BlockQ4_0 {
  static constexpr Dtype dtype = Dtype::q4_0;
  f16 d;
  std::uint8_t q[16];

  static BlockQ4_0 load(const std::byte* bytes) {
    BlockQ4_0 block;
    load_members(bytes, block.d, block.q);
    return block;
  }
};

/// x_i = d q_i + m, the numbers in the same places.
struct BlockQ4_1 {
  static constexpr Dtype dtype = Dtype::q4_1;
  f16 d, m;
  std::uint8_t q[16];

  static BlockQ4_1 load(const std::byte* bytes) {
    BlockQ4_1 block;
    load_members(bytes, block.d, block.m, block.q);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ4_0> && block_fits_dtype<BlockQ4_1>);

/// Writes 32 numbers.
inline void decode_block(const BlockQ4_0& block, float* out) {
  const float d = to_float(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * (static_cast<float>(block.q[i] & 15) - 8.0f);
    out[i + 16] = d * (static_cast<float>(block.q[i] >> 4) - 8.0f);
  }
}

inline void decode_block(const BlockQ4_1& block, float* out) {
  const float d = to_float(block.d), m = to_float(block.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(block.q[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(block.q[i] >> 4) + m;
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
