// exp on four floats. The C library's scalar functions would cost more than the
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

}  // namespace imbrex::kernels::tiles
