#include "imbrex/base/f16.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "imbrex/base/random.hpp"

using namespace imbrex;

namespace {

bool is_nan(f16 x) { return (x.bits & 0x7FFF) > 0x7C00; }

/// The value of a half from the definition of the format: (-1)^s 2^(e-15) (1 + f/1024), or
/// (-1)^s 2^-14 f/1024 where e is 0.
double value(std::uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31u),
            fraction = static_cast<int>(bits & 1023u);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

/// The magnitudes of all halves, ascending, and 2^16 in the place of infinity: from it a number is
/// as far as if the format went on.
const std::vector<double>& magnitudes() {
  static const std::vector<double> all = [] {
    std::vector<double> m;
    for (std::uint32_t bits = 0; bits <= 0x7C00u; ++bits) m.push_back(value(bits));
    return m;
  }();
  return all;
}

/// The half nearest to x, found by search among all of them.
std::uint16_t nearest(float x) {
  const std::vector<double>& all = magnitudes();
  const double magnitude = std::fabs(static_cast<double>(x));
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (magnitude >= all.back()) return static_cast<std::uint16_t>(sign | 0x7C00u);
  const auto above = std::upper_bound(all.begin(), all.end(), magnitude);
  const std::uint16_t below = static_cast<std::uint16_t>(above - all.begin() - 1);
  const double down = magnitude - all[below], up = *above - magnitude;
  const bool take_below = down < up || (down == up && below % 2 == 0);
  return static_cast<std::uint16_t>(sign | (take_below ? below : below + 1));
}

}  // namespace

TEST_CASE("f32 to f16: known values") {
  CHECK(to_f16(65504.0f).bits == 0x7BFF);
  CHECK(to_f16(65519.996f).bits == 0x7BFF);
  CHECK(to_f16(65520.0f).bits == 0x7C00);  // the tie goes to the even one, infinity
  CHECK(to_f16(INFINITY).bits == 0x7C00);
  CHECK(to_f16(-INFINITY).bits == 0xFC00);
  CHECK(to_f16(0x1p-24f).bits == 0x0001);
  CHECK(to_f16(0x1p-25f).bits == 0x0000);  // a tie, to even
  CHECK(to_f16(0x1p-25f * 1.0001f).bits == 0x0001);
  CHECK(to_f16(0x1.8p-24f).bits == 0x0002);  // a tie, to even
  CHECK(to_f16(-0.0f).bits == 0x8000);
  CHECK(to_f16(0x1.ffcp-15f).bits == 0x03FF + 1);  // between the subnormals and 2^-14: rounds up
  CHECK(to_f16(1.0f).bits == 0x3C00);
  CHECK(to_f16(-2.0f).bits == 0xC000);
}

TEST_CASE("a NaN stays a quiet NaN of its sign") {
  for (std::uint32_t bits : {0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu, 0xFF800001u, 0xFFFFFFFFu}) {
    const f16 half = to_f16(std::bit_cast<float>(bits));
    CHECK(is_nan(half));
    CHECK((half.bits & 0x0200) != 0);
    CHECK((half.bits >> 15) == (bits >> 31));
  }
}

TEST_CASE("every half has the value of the format's definition, and comes back from float") {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const f16 half{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(half);
    if (is_nan(half)) {
      const f16 quiet{static_cast<std::uint16_t>(bits | 0x0200u)};
      if (!std::isnan(wide) || to_f16(wide) != quiet) FAIL_CHECK("half " << bits);
      continue;
    }
    const bool infinite = (bits & 0x7FFFu) == 0x7C00u;
    const bool right = infinite ? std::isinf(wide) && std::signbit(wide) == (bits >> 15 != 0)
                                : static_cast<double>(wide) == value(bits);
    if (!right || to_f16(wide) != half) FAIL_CHECK("half " << bits << " is " << wide);
  }
}

TEST_CASE("f32 to f16 is the nearest of all halves, ties to even") {
  int wrong = 0;
  const auto check = [&wrong](float x) {
    if (!std::isnan(x) && to_f16(x).bits != nearest(x)) ++wrong;
  };
  Random random(2);
  for (int i = 0; i < 1000000; ++i) {
    check(std::bit_cast<float>(random()));             // every exponent
    check(std::ldexp(random.uniform(), i % 45 - 27));  // where halves are
  }
  for (std::uint32_t bits = 0; bits < 0x7C00u; ++bits) {  // the middle of every two neighbours
    const float tie = static_cast<float>((magnitudes()[bits] + magnitudes()[bits + 1]) / 2);
    check(tie);
    check(std::nextafter(tie, 0.0f));
    check(std::nextafter(tie, INFINITY));
    check(-tie);
  }
  CHECK(wrong == 0);
}

static_assert(to_f16(0.5f).bits == 0x3800);
static_assert(to_float(f16{0x0001}) == 0x1p-24f);
