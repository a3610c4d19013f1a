// bfloat16: the upper half of a float. 1 sign, 8 exponent, 7 fraction bits.
#pragma once

#include <bit>
#include <cstdint>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A stored bfloat16; arithmetic is done in float.
struct bf16 {
  std::uint16_t bits;

  friend constexpr bool operator==(bf16, bf16) = default;
};

/// Exact.
constexpr float to_float(bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

/// Rounds to nearest, ties to even. A NaN stays a NaN: it is made quiet and keeps its sign, its
/// payload is dropped (0x7F800001 -> 0x7FC0, where adding and cutting would give infinity).
constexpr bf16 to_bf16(float x) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
  if ((u & 0x7FFFFFFFu) > 0x7F800000u) {
    return {static_cast<std::uint16_t>(((u >> 16) & 0x8000u) | 0x7FC0u)};
  }
  // Half a unit of the last kept place, less one when that place is even: ties go to even.
  const std::uint32_t rounding = 0x7FFFu + ((u >> 16) & 1u);
  return {static_cast<std::uint16_t>((u + rounding) >> 16)};
}

}  // namespace imbrex::inline IMBREX_ABI
