// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
#pragma once

#include <bit>
#include <cstdint>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A stored half; arithmetic is done in float.
struct f16 {
  std::uint16_t bits;

  friend constexpr bool operator==(f16, f16) = default;
};

/// Exact, NaN payloads included.
constexpr float to_float(f16 x) {
  const std::uint32_t sign = (x.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (x.bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = x.bits & 0x3FFu;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24, exact in float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/// Rounds to nearest, ties to even; past 65504 + 16 - 1 ulp to infinity. A NaN stays a quiet NaN
/// and keeps the upper bits of its payload.
constexpr f16 to_f16(float x) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (u >> 16) & 0x8000u;
  const std::uint32_t magnitude = u & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) {  // NaN
    return {static_cast<std::uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu))};
  }
  if (magnitude >= 0x477FF000u) {  // 65520 and above: the tie at 65520 goes to the even infinity
    return {static_cast<std::uint16_t>(sign | 0x7C00u)};
  }
  if (magnitude >= 0x38800000u) {  // 2^-14 and above: normal
    const std::uint32_t rounding = 0xFFFu + ((magnitude >> 13) & 1u);
    return {static_cast<std::uint16_t>(sign | ((magnitude + rounding - 0x38000000u) >> 13))};
  }
  if (magnitude <= 0x33000000u) return {static_cast<std::uint16_t>(sign)};  // <= 2^-25: zero
  // Subnormal: the significand with its hidden bit, shifted to units of 2^-24.
  const std::uint32_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
  const std::uint32_t shift = 126u - (magnitude >> 23);  // 14 .. 24
  const std::uint32_t half = 1u << (shift - 1);
  const std::uint32_t rounding = half - 1u + ((significand >> shift) & 1u);
  return {static_cast<std::uint16_t>(sign | ((significand + rounding) >> shift))};
}

}  // namespace imbrex::inline IMBREX_ABI
