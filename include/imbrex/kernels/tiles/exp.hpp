// exp and its kin on four floats. The C library's scalar functions would cost more than the
// products around them.
#pragma once

#include "imbrex/kernels/tiles/lanes.hpp"

namespace imbrex::kernels::tiles {

/// e^x with a relative error below 2^-23, down to the subnormals and up to infinity; a NaN stays
/// one. x = n ln 2 + r with |r| <= ln 2 / 2 (n ln 2 in two parts, the first exact: Cody and Waite
/// 1980), e^r by its Taylor series to r^7 (what is left out is below r^8/8! = 5e-9).
inline Lanes exp(Lanes x) {
  const Lanes lowest = broadcast(-105.0f);  // e^-105 rounds to 0,
  const Lanes highest = broadcast(90.0f);   // e^90 to infinity
  Lanes z = x == x ? x : Lanes{};           // a NaN has no integer: it is put back at the end
  z = z < lowest ? lowest : z;
  z = z > highest ? highest : z;
  const Lanes half = z < 0.0f ? broadcast(-0.5f) : broadcast(0.5f);
  const IntLanes n = __builtin_convertvector(z * 1.44269504f + half, IntLanes);
  const Lanes whole = __builtin_convertvector(n, Lanes);
  const Lanes r = (z - whole * 0.693359375f) + whole * 2.12194440e-4f;
  Lanes p = r * (1.0f / 5040) + (1.0f / 720);
  p = p * r + (1.0f / 120);
  p = p * r + (1.0f / 24);
  p = p * r + (1.0f / 6);
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  // 2^n in two factors: with n down to -151 and up to 130 one alone would not be a normal float.
  const IntLanes first = n >> 1, second = n - first;
  Lanes scale_first, scale_second;
  const IntLanes first_bits = (first + 127) << 23, second_bits = (second + 127) << 23;
  std::memcpy(&scale_first, &first_bits, sizeof scale_first);
  std::memcpy(&scale_second, &second_bits, sizeof scale_second);
  return x == x ? p * scale_first * scale_second : x;
}

/// 1 / (1 + e^-x).
inline Lanes sigmoid(Lanes x) { return 1.0f / (1.0f + exp(-x)); }

/// tanh x to 4 * 2^-24 of itself: (1 - e) / (1 + e) with e = e^-2|x|, the sign put back; below |x|
/// = 0.35, where 1 - e cancels, its Taylor series to x^11 (the next term is below 2e-8 of the
/// first).
inline Lanes tanh(Lanes x) {
  const Lanes magnitude = x < 0.0f ? -x : x;
  const Lanes e = exp(-2.0f * magnitude);
  const Lanes large = (1.0f - e) / (1.0f + e);
  const Lanes s = x * x;
  Lanes p = s * (-1382.0f / 155925) + (62.0f / 2835);
  p = p * s + (-17.0f / 315);
  p = p * s + (2.0f / 15);
  p = p * s + (-1.0f / 3);
  const Lanes series = x * s * p + x;
  const Lanes signed_large = x < 0.0f ? -large : large;
  return magnitude < 0.35f ? series : signed_large;
}

}  // namespace imbrex::kernels::tiles
