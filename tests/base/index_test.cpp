#include "imbrex/base/index.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace imbrex;

namespace {
constexpr index_t top = (std::numeric_limits<index_t>::max)();  // 2^63 - 1
}

TEST_CASE("products that fit are written, others leave the target alone") {
  struct Case {
    index_t a, b;
    bool fits;
  };
  // 2^63 - 1 = 7 * 7 * 73 * 127 * 337 * 92737 * 649657, so top / 7 * 7 is top itself.
  const Case cases[] = {
      {0, top, true},           {top, 0, true},
      {1, top, true},           {top / 7, 7, true},
      {top / 7 + 1, 7, false},  {top, 2, false},
      {1 << 30, 1 << 30, true}, {index_t{1} << 32, index_t{1} << 31, false},
      {-1, 1, false},           {1, -1, false},
      {-1, -1, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.a);
    CAPTURE(c.b);
    index_t product = 42;
    CHECK(multiply_fits(c.a, c.b, product) == c.fits);
    CHECK(product == (c.fits ? c.a * c.b : 42));
  }
}

TEST_CASE("sums that fit are written, others leave the target alone") {
  index_t sum = 42;
  CHECK(add_fits(top - 1, 1, sum));
  CHECK(sum == top);
  sum = 42;
  CHECK_FALSE(add_fits(top, 1, sum));
  CHECK_FALSE(add_fits(1, top, sum));
  CHECK_FALSE(add_fits(-1, 1, sum));
  CHECK_FALSE(add_fits(1, -1, sum));
  CHECK(sum == 42);
}

TEST_CASE("division upwards") {
  CHECK(ceil_div(0, 8) == 0);
  CHECK(ceil_div(1, 8) == 1);
  CHECK(ceil_div(8, 8) == 1);
  CHECK(ceil_div(9, 8) == 2);
  CHECK(ceil_div(top, 2) == index_t{1} << 62);  // (top + 2 - 1) / 2 would overflow
}

TEST_CASE("the smaller and the larger") {
  CHECK(lesser(-3, 5) == -3);
  CHECK(lesser(5, -3) == -3);
  CHECK(greater(-3, 5) == 5);
  CHECK(greater(5, -3) == 5);
}
