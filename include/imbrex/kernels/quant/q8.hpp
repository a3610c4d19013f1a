// Q8_0: 32 signed bytes with one scale.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// x_i = d q_i.
struct BlockQ8_0 {
  static constexpr Dtype dtype = Dtype::q8_0;
  f16 d;
  std::int8_t q[32];

  static BlockQ8_0 load(const std::byte* bytes) {
    BlockQ8_0 block;
    load_members(bytes, block.d, block.q);
    return block;
  }
};

static_assert(block_fits_dtype<BlockQ8_0>);

/// Writes 32 numbers.
inline void decode_block(const BlockQ8_0& block, float* out) {
  const float d = to_float(block.d);
  for (int i = 0; i < 32; ++i) {
    out[i] = d * (static_cast<float>(static_cast<std::uint8_t>(block.q[i] ^ 0x80)) - 128.0f);
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
