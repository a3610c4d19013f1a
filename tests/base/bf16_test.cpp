#include "imbrex/base/bf16.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "imbrex/base/random.hpp"

using namespace imbrex;

namespace {

bf16 from_bits(std::uint32_t bits) { return to_bf16(std::bit_cast<float>(bits)); }

bool is_nan(std::uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

/// Nearest in value, ties to the even one of the two neighbours: by the distances in double, which
/// holds floats and their differences of half a unit exactly.
std::uint16_t nearest(std::uint32_t bits) {
  const std::uint16_t below = static_cast<std::uint16_t>(bits >> 16);  // towards zero
  const auto value = [](std::uint32_t b) -> double {
    // One step past the largest finite value stands for 2^128.
    if ((b & 0x7F80u) == 0x7F80u) return (b & 0x8000u) != 0 ? -0x1p128 : 0x1p128;
    return static_cast<double>(std::bit_cast<float>(b << 16));
  };
  const double x = static_cast<double>(std::bit_cast<float>(bits));
  if (std::isinf(x)) return below;
  const std::uint16_t above = static_cast<std::uint16_t>(below + 1u);
  const double down = std::fabs(x - value(below)), up = std::fabs(value(above) - x);
  if (down != up) return down < up ? below : above;
  return (below & 1u) == 0 ? below : above;
}

}  // namespace

TEST_CASE("f32 to bf16: known values") {
  CHECK(from_bits(0x3E89CCD5u).bits == 0x3E8A);
  CHECK(to_float(from_bits(0x3E89CCD5u)) == 0.26953125f);  // cut off it would be 0.267578125
  CHECK(from_bits(0x3F808000u).bits == 0x3F80);            // a tie, down to the even one
  CHECK(from_bits(0x3F818000u).bits == 0x3F82);            // a tie, up to the even one
  CHECK(from_bits(0x3F808001u).bits == 0x3F81);
  CHECK(from_bits(0x7F800001u).bits == 0x7FC0);  // a signalling NaN, whose cut is infinity
  CHECK(from_bits(0xFF800001u).bits == 0xFFC0);
  CHECK(from_bits(0x7FFFFFFFu).bits == 0x7FC0);  // would round up to -0
  CHECK(from_bits(0x80000000u).bits == 0x8000);
  CHECK(from_bits(0x7F800000u).bits == 0x7F80);
  CHECK(from_bits(0x7F7FFFFFu).bits == 0x7F80);  // the largest float rounds to infinity
  CHECK(from_bits(0x00000001u).bits == 0x0000);
  CHECK(from_bits(0x00008001u).bits == 0x0001);  // subnormal, not flushed
}

TEST_CASE("every bf16 comes back from float, a NaN as a NaN") {
  for (std::uint32_t b = 0; b < 0x10000u; ++b) {
    const bf16 x{static_cast<std::uint16_t>(b)};
    const std::uint16_t back = to_bf16(to_float(x)).bits;
    const std::uint16_t expected =
        is_nan(b << 16) ? static_cast<std::uint16_t>((b & 0x8000u) | 0x7FC0u) : x.bits;
    if (back != expected) FAIL_CHECK("bf16 bits " << b << " came back as " << back);
  }
}

TEST_CASE("f32 to bf16 is the nearest, ties to even") {
  Random random(1);
  int wrong = 0;
  const auto check = [&wrong](std::uint32_t bits) {
    if (!is_nan(bits) && from_bits(bits).bits != nearest(bits)) ++wrong;
  };
  for (int i = 0; i < 1000000; ++i) check(random());
  for (std::uint32_t upper = 0; upper < 0x10000u; ++upper) {  // around every tie
    for (std::uint32_t lower : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      check((upper << 16) | lower);
    }
  }
  CHECK(wrong == 0);
}

static_assert(to_bf16(1.0f).bits == 0x3F80);
static_assert(to_float(bf16{0xC040}) == -3.0f);
