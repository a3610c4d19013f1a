#include "imbrex/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace imbrex;

namespace {

bool same(const PhiloxBlock& a, const PhiloxBlock& b) {
  return std::equal(a.word, a.word + 4, b.word);
}

}  // namespace

TEST_CASE("Philox4x32-10: the known answers published with Random123") {
  CHECK(same(philox4x32({{0, 0, 0, 0}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  CHECK(same(philox4x32({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffff, 0xffffffff),
             {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  CHECK(same(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
             {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST_CASE("a stream is the blocks of its counter, word by word") {
  Random zero(0);
  CHECK(zero() == 0x6627e8d5);
  CHECK(zero() == 0xe169c58d);
  CHECK(zero() == 0xbc57ac4c);
  CHECK(zero() == 0x9b00dbd8);
  const PhiloxBlock second = philox4x32({{1, 0, 0, 0}}, 0, 0);
  CHECK(zero() == second.word[0]);

  Random other(0x299f31d0a4093822u, 0x0370734413198a2eu);
  const PhiloxBlock first = philox4x32({{0, 0, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0);
  for (std::uint32_t word : first.word) CHECK(other() == word);
}

TEST_CASE("one seed gives one sequence; another seed or stream another") {
  Random a(7), b(7), c(8), d(7, 1);
  int equal_c = 0, equal_d = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t x = a();
    CHECK(x == b());
    equal_c += x == c() ? 1 : 0;
    equal_d += x == d() ? 1 : 0;
  }
  CHECK(equal_c <= 1);  // 1000 pairs, each equal with probability 2^-32
  CHECK(equal_d <= 1);
}

TEST_CASE("uniform numbers are in [0, 1) and spread evenly") {
  Random random(3);
  const int n = 100000;
  double sum = 0, squares = 0;
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    const float u = random.uniform();
    inside = inside && u >= 0.0f && u < 1.0f;
    const double v = random.uniform_double();
    inside = inside && v >= 0.0 && v < 1.0;
    sum += static_cast<double>(u) + v;
    squares += static_cast<double>(u) * static_cast<double>(u) + v * v;
  }
  CHECK(inside);
  // Mean 1/2 with a standard deviation of sqrt(1/12 / 2n) = 0.00065; the mean square is 1/3 with
  // sqrt(4/45 / 2n) = 0.00067. Five of them:
  CHECK(std::fabs(sum / (2 * n) - 0.5) < 0.0033);
  CHECK(std::fabs(squares / (2 * n) - 1.0 / 3) < 0.0034);
}

TEST_CASE("normal numbers have mean 0, variance 1, and the fourth moment of the normal law") {
  Random random(4);
  const int n = 100000;
  double m1 = 0, m2 = 0, m4 = 0;
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(random.normal());
    m1 += x / n;
    m2 += x * x / n;
    m4 += x * x * x * x / n;
  }
  // Standard deviations of the three means: sqrt(1/n), sqrt(2/n), sqrt(96/n). Five of each.
  CHECK(std::fabs(m1) < 5 * std::sqrt(1.0 / n));
  CHECK(std::fabs(m2 - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::fabs(m4 - 3) < 5 * std::sqrt(96.0 / n));
}

TEST_CASE("the generators of <random> and <algorithm> accept it") {
  static_assert(std::uniform_random_bit_generator<Random>);
  std::vector<int> numbers{1, 2, 3, 4, 5};
  std::shuffle(numbers.begin(), numbers.end(), Random(5));
  CHECK(std::is_permutation(numbers.begin(), numbers.end(), std::begin({1, 2, 3, 4, 5})));
}
