// Stored numbers of any format to float.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "imbrex/base/errors.hpp"
#include "imbrex/kernels/quant/halves.hpp"
#include "imbrex/kernels/quant/q2_k.hpp"
#include "imbrex/kernels/quant/q3_k.hpp"
#include "imbrex/kernels/quant/q4.hpp"
#include "imbrex/kernels/quant/q4_k.hpp"
#include "imbrex/kernels/quant/q5.hpp"
#include "imbrex/kernels/quant/q5_k.hpp"
#include "imbrex/kernels/quant/q6_k.hpp"
#include "imbrex/kernels/quant/q8.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Every block of `count` numbers, one after the other.
template <class Block>
void decode_blocks(const std::byte* blocks, index_t count, float* out) {
  for (index_t i = 0; i < count; i += traits(Block::dtype).block) {
    decode_block(Block::load(blocks), out + i);
    blocks += sizeof(Block);
  }
}

/// Decodes `count` numbers of format `dtype`, stored from `blocks` on (any alignment), to `out`.
/// Throws ShapeError when `count` is not a whole number of blocks, ConfigError when there is no
/// such dtype.
inline void decode(Dtype dtype, const std::byte* blocks, index_t count, float* out) {
  if (is_dtype(dtype) && row_bytes(dtype, count) < 0) {
    raise(ShapeError("decode: " + std::to_string(count) + " numbers are not whole blocks of " +
                     name(dtype)));
  }
  switch (dtype) {
    case Dtype::f32:
      if (count > 0) std::memcpy(out, blocks, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case Dtype::f16:
      return decode_halves<f16>(blocks, count, out);
    case Dtype::bf16:
      return decode_halves<bf16>(blocks, count, out);
    case Dtype::q4_0:
      return decode_blocks<BlockQ4_0>(blocks, count, out);
    case Dtype::q4_1:
      return decode_blocks<BlockQ4_1>(blocks, count, out);
    case Dtype::q5_0:
      return decode_blocks<BlockQ5_0>(blocks, count, out);
    case Dtype::q5_1:
      return decode_blocks<BlockQ5_1>(blocks, count, out);
    case Dtype::q8_0:
      return decode_blocks<BlockQ8_0>(blocks, count, out);
    case Dtype::q2_k:
      return decode_blocks<BlockQ2_K>(blocks, count, out);
    case Dtype::q3_k:
      return decode_blocks<BlockQ3_K>(blocks, count, out);
    case Dtype::q4_k:
      return decode_blocks<BlockQ4_K>(blocks, count, out);
    case Dtype::q5_k:
      return decode_blocks<BlockQ5_K>(blocks, count, out);
    case Dtype::q6_k:
      return decode_blocks<BlockQ6_K>(blocks, count, out);
  }
  raise(ConfigError("dtype", std::to_string(static_cast<int>(dtype)),
                    "0 to " + std::to_string(dtype_count - 1)));
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
