// Rows of F16 and BF16, read and written in runs of 32 numbers, as if these were blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "imbrex/base/bf16.hpp"
#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// 32 numbers of type Half.
template <class Half>
struct RunOf {
  Half x[32];

  static RunOf load(const std::byte* bytes) {
    RunOf run;
    load_members(bytes, run.x);
    return run;
  }
};

/// to_float(f16) without branches, so that loops over it vectorise.
constexpr float widen(f16 h) {
  const std::uint32_t magnitude = h.bits & 0x7FFFu, exponent = magnitude >> 10;
  // Exponents move by 127 - 15; that of infinity and NaN once more, to 255.
  const std::uint32_t step = 112u << 23;
  const std::uint32_t moved =
      (magnitude << 13) + step + (step & (0u - std::uint32_t{exponent == 31}));
  // Zero and subnormals, n x 2^-24: 0.5 has that for its last place, so n is put there and 0.5
  // taken off again. No subnormal float occurs on the way, whatever the processor does with those.
  const float tiny = std::bit_cast<float>(0x3F000000u + magnitude) - 0.5f;
  const std::uint32_t is_tiny = 0u - std::uint32_t{exponent == 0};
  const std::uint32_t bits = (std::bit_cast<std::uint32_t>(tiny) & is_tiny) | (moved & ~is_tiny);
  return std::bit_cast<float>(bits | (h.bits & 0x8000u) << 16);
}

constexpr float widen(bf16 b) { return to_float(b); }

/// Writes 32 numbers.
template <class Half>
void decode_block(const RunOf<Half>& run, float* out) {
  for (int i = 0; i < 32; ++i) out[i] = widen(run.x[i]);
}

/// `count` numbers of type Half, at any address, to float.
template <class Half>
void decode_halves(const std::byte* bytes, index_t count, float* out) {
  const index_t runs = count / 32, rest = count % 32;
  for (index_t i = 0; i < runs; ++i, bytes += 64, out += 32) {
    decode_block(RunOf<Half>::load(bytes), out);
  }
  for (index_t i = 0; i < rest; ++i, bytes += 2) {
    Half x;
    load_members(bytes, x);
    out[i] = widen(x);
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
