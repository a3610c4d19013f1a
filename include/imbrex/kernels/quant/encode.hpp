// Floats to stored numbers, for the formats that are simple to write. Scales and roundings are
// those of ggml's reference, so that files come out the same byte for byte.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/errors.hpp"
#include "imbrex/kernels/quant/q4.hpp"
#include "imbrex/kernels/quant/q8.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// 1 / d, and 0 where that is no number: all-zero blocks have d = 0, and blocks of the smallest
/// subnormals a d whose inverse overflows. Both decode to zeros.
inline float inverse_scale(float d) {
  const float inverse = 1.0f / d;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

/// Whether a half can hold x (a scale must not become infinite: 0 x infinity decodes to NaN).
constexpr bool fits_f16(float x) { return x > -65520.0f && x < 65520.0f; }

/// d = max |x| / 127, q = x / d rounded to nearest, halves away from zero. False, and `block`
/// unspecified, where an x is not finite or d is beyond f16.
inline bool encode_block(const float* x, BlockQ8_0& block) {
  float largest = 0.0f;
  bool finite = true;
  for (int i = 0; i < 32; ++i) {
    finite = finite && std::isfinite(x[i]);
    largest = (std::max)(largest, std::fabs(x[i]));
  }
  const float d = largest / 127.0f;
  if (!finite || !fits_f16(d)) return false;
  const float inverse = inverse_scale(d);
  block.d = to_f16(d);
  for (int i = 0; i < 32; ++i) block.q[i] = static_cast<std::int8_t>(std::round(x[i] * inverse));
  return true;
}

/// d = x_k / -8 where x_k is the first x of the largest magnitude, with its sign (it becomes q = 0,
/// the end of the range that reaches one further); q = x / d + 8, halves up, at most 15.
inline bool encode_block(const float* x, BlockQ4_0& block) {
  float extreme = 0.0f;
  bool finite = true;
  for (int i = 0; i < 32; ++i) {
    finite = finite && std::isfinite(x[i]);
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  }
  const float d = extreme / -8.0f;
  if (!finite || !fits_f16(d)) return false;
  const float inverse = inverse_scale(d);
  const auto quantise = [inverse](float v) {
    return (std::min)(15, static_cast<int>(v * inverse + 8.5f));
  };
  block.d = to_f16(d);
  for (int i = 0; i < 16; ++i) {
    block.q[i] = static_cast<std::uint8_t>(quantise(x[i]) | quantise(x[i + 16]) << 4);
  }
  return true;
}

/// m = min x, d = (max x - m) / 15, q = (x - m) / d, halves up, at most 15.
inline bool encode_block(const float* x, BlockQ4_1& block) {
  float least = x[0], largest = x[0];
  bool finite = true;
  for (int i = 0; i < 32; ++i) {
    finite = finite && std::isfinite(x[i]);
    least = (std::min)(least, x[i]);
    largest = (std::max)(largest, x[i]);
  }
  const float d = (largest - least) / 15.0f;
  if (!finite || !fits_f16(d) || !fits_f16(least)) return false;
  const float inverse = inverse_scale(d);
  const auto quantise = [inverse, least](float v) {
    return (std::min)(15, static_cast<int>((v - least) * inverse + 0.5f));
  };
  block.d = to_f16(d);
  block.m = to_f16(least);
  for (int i = 0; i < 16; ++i) {
    block.q[i] = static_cast<std::uint8_t>(quantise(x[i]) | quantise(x[i + 16]) << 4);
  }
  return true;
}

/// Every block of `count` numbers. All are tried before the first is written: where one cannot be
/// encoded, `out` is as it was.
template <class Block>
void encode_blocks(const float* x, index_t count, std::byte* out) {
  constexpr index_t numbers = traits(Block::dtype).block;
  Block block;
  for (index_t i = 0; i < count; i += numbers) {
    if (!encode_block(x + i, block)) {
      raise(NumericError(std::string("encode: a number from ") + std::to_string(i) + " to " +
                         std::to_string(i + numbers - 1) + " is not finite or too large for " +
                         name(Block::dtype)));
    }
  }
  for (index_t i = 0; i < count; i += numbers) {
    encode_block(x + i, block);
    std::memcpy(out, &block, sizeof(Block));
    out += sizeof(Block);
  }
}

/// Encodes `count` floats as `dtype` to `out` (any alignment). F32, F16 and BF16 take every float
/// (f16 and bf16 round to nearest even; beyond their range comes infinity; NaN stays NaN). Q8_0,
/// Q4_0 and Q4_1 throw NumericError for numbers that are not finite, or so large that a scale
/// is beyond f16 (magnitudes of 8.3e6, 5.2e5 and 6.5e4 always fit). Throws ShapeError when `count`
/// is not a whole number of blocks, ConfigError for another dtype. (Not inlined: where g++ 12 knows
/// the count to be small, it warns of the vector loop that it then does not run.)
[[gnu::noinline]] inline void encode(Dtype dtype, const float* x, index_t count, std::byte* out) {
  if (is_dtype(dtype) && row_bytes(dtype, count) < 0) {
    raise(ShapeError("encode: " + std::to_string(count) + " numbers are not whole blocks of " +
                     name(dtype)));
  }
  switch (dtype) {
    case Dtype::f32:
      if (count > 0) std::memcpy(out, x, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case Dtype::f16:
      for (index_t i = 0; i < count; ++i) {
        const f16 h = to_f16(x[i]);
        std::memcpy(out + 2 * i, &h, 2);
      }
      return;
    case Dtype::bf16:
      for (index_t i = 0; i < count; ++i) {
        const bf16 b = to_bf16(x[i]);
        std::memcpy(out + 2 * i, &b, 2);
      }
      return;
    case Dtype::q8_0:
      return encode_blocks<BlockQ8_0>(x, count, out);
    case Dtype::q4_0:
      return encode_blocks<BlockQ4_0>(x, count, out);
    case Dtype::q4_1:
      return encode_blocks<BlockQ4_1>(x, count, out);
    default:
      break;
  }
  raise(ConfigError("dtype", name(dtype), "F32, F16, BF16, Q8_0, Q4_0 or Q4_1"));
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
