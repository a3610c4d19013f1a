// Q5_0 and Q5_1: as Q4_0 and Q4_1, with the fifth bits of the 32 numbers in four bytes of their
// own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// x_i = d (q_i - 16). Bit i % 8 of high[i / 8] is the fifth bit of q_i; the other four are in the
/// low halves of the bytes (numbers 0 to 15) and the high ones (16 to 31).
struct BlockQ5_0 {
  static constexpr Dtype dtype = Dtype::q5_0;
  f16 d;
  std::uint8_t high[4];
  std::uint8_t q[16];

  static BlockQ5_0 load(const std::byte* bytes) {
    BlockQ5_0 block;
    load_members(bytes, block.d, block.high, block.q);
    return block;
  }
};

/// x_i = d q_i + m, the numbers in the same places.
struct BlockQ5_1 {
  static constexpr Dtype dtype = Dtype::q5_1;
  f16 d, m;
  std::uint8_t high[4];
  std::uint8_t q[16];

  static BlockQ5_1 load(const std::byte* bytes) {
    BlockQ5_1 block;
    load_members(bytes, block.d, block.m, block.high, block.q);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ5_0> && block_fits_dtype<BlockQ5_1>);

/// The 32 numbers of five bits, 0 to 31, in steps that vectorise.
struct NumbersQ5 {
  std::uint8_t x[32];

  NumbersQ5(const std::uint8_t (&q)[16], const std::uint8_t (&high)[4]) {
    constexpr std::uint8_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int i = 0; i < 16; ++i) {
      x[i] = q[i] & 15;
      x[i + 16] = q[i] >> 4;
    }
    for (int byte = 0; byte < 4; ++byte) {
      for (int i = 0; i < 8; ++i) x[byte * 8 + i] |= (high[byte] & bit[i]) != 0 ? 16 : 0;
    }
  }
};

/// Writes 32 numbers.
inline void decode_block(const BlockQ5_0& block, float* out) {
  const float d = to_float(block.d);
  const NumbersQ5 q(block.q, block.high);
  for (int i = 0; i < 32; ++i) out[i] = d * (static_cast<float>(q.x[i]) - 16.0f);
}

inline void decode_block(const BlockQ5_1& block, float* out) {
  const float d = to_float(block.d), m = to_float(block.m);
  const NumbersQ5 q(block.q, block.high);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q.x[i]) + m;
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
