// Activations rounded to int8: the rule against numbers worked by hand, every set against the rule.
#include "imbrex/kernels/reference/round_activations.hpp"

#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::RoundedRow;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// A rounded row; what is not written stays 99.
struct Rounded {
  std::vector<std::int8_t> q;
  std::vector<float> d;
  std::vector<std::int32_t> sum;

  Rounded(kernels::RoundActivations round, const std::vector<float>& x)
      : q(x.size(), 99), d(x.size() / 32, 99), sum(x.size() / 32, 99) {
    // x and q end at pages that may not be touched.
    const GuardedBytes in(x.size() * sizeof(float)), out(x.size());
    if (!x.empty()) std::memcpy(in.data(), x.data(), x.size() * sizeof(float));
    round(reinterpret_cast<const float*>(in.data()), static_cast<index_t>(x.size()),
          {reinterpret_cast<std::int8_t*>(out.data()), d.data(), sum.data()});
    if (!x.empty()) std::memcpy(q.data(), out.data(), x.size());
  }
};

const kernels::RoundActivations rule = kernels::reference::round_activations;

std::vector<float> block(float first, float rest) {
  std::vector<float> x(32, rest);
  x[0] = first;
  return x;
}

}  // namespace

TEST_CASE("round_activations: scale, numbers and sum, halves to even") {
  // m = 127, so that d = 1 and q is x itself, rounded.
  std::vector<float> x = block(-127, 0);
  const float halves[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, 0.49f, 3.51f};
  const int expected[] = {0, 2, 2, 0, -2, 126, 0, 4};
  std::copy(std::begin(halves), std::end(halves), x.begin() + 1);
  const Rounded r(rule, x);
  CHECK(r.d[0] == 1);
  CHECK(r.q[0] == -127);
  for (int i = 0; i < 8; ++i) CHECK(int{r.q[static_cast<std::size_t>(i + 1)]} == expected[i]);
  CHECK(r.sum[0] == -127 + 2 + 2 - 2 + 126 + 4);
}

TEST_CASE("round_activations: no number is more than half a step off, whatever its size") {
  for (const float size : {1e-30f, 1e-3f, 1.0f, 1e3f, 1e30f, 3.4e38f}) {
    std::vector<float> x = uniform(32 * 100, 1);
    for (float& v : x) v *= size;
    const Rounded r(rule, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = double{r.d[i / 32]};
      CHECK(std::abs(double{x[i]} - d * r.q[i]) <= d * (0.5 + 0x1p-15));
      CHECK(std::abs(int{r.q[i]}) <= 127);
    }
    for (std::size_t b = 0; b < r.d.size(); ++b) {
      int sum = 0, most = 0;
      for (std::size_t i = 32 * b; i < 32 * b + 32; ++i) {
        sum += r.q[i];
        most = (std::max)(most, std::abs(int{r.q[i]}));
      }
      CHECK(r.sum[b] == sum);
      CHECK(most == 127);
    }
  }
}

TEST_CASE("round_activations: zeros and the smallest numbers are zeros") {
  for (const float most : {0.0f, -0.0f, 0x1p-149f, 0x1p-126f, std::nextafter(0x1p-119f, 0.0f)}) {
    const Rounded r(rule, block(most, 0));
    CHECK(r.d[0] == 0);
    CHECK(r.q == std::vector<std::int8_t>(32, 0));
    CHECK(r.sum[0] == 0);
  }
  CHECK(Rounded(rule, block(0x1p-119f, 0)).q[0] == 127);
  CHECK(Rounded(rule, block(std::numeric_limits<float>::max(), 0)).q[0] == 127);
}

TEST_CASE(
    "round_activations: infinity or NaN anywhere makes the scale of its block NaN, no other") {
  for (const float odd : {infinity, -infinity, not_a_number, -not_a_number}) {
    for (std::size_t at = 32; at < 64; ++at) {
      std::vector<float> x(96, 1.0f);
      x[at] = odd;
      const Rounded r(rule, x);
      CHECK(std::isnan(r.d[1]));
      CHECK(r.d[0] == r.d[2]);
      CHECK_FALSE(std::isnan(r.d[0]));
      for (std::size_t i = 32; i < 64; ++i) CHECK(r.q[i] == 0);
      CHECK(r.sum[1] == 0);
    }
  }
}

TEST_CASE("round_activations: every set follows the rule, bit for bit") {
  for (const Isa isa : available_sets()) {
    const kernels::RoundActivations round = kernels::kernels_of(isa).round_activations;
    CAPTURE(std::string(name(isa)));
    const auto agrees = [&](const std::vector<float>& x) {
      const Rounded got(round, x), want(rule, x);
      return got.q == want.q && got.sum == want.sum &&
             (x.empty() || std::memcmp(got.d.data(), want.d.data(), 4 * got.d.size()) == 0);
    };
    CHECK(agrees({}));
    for (const float size : {1e-36f, 1.0f, 1e36f}) {
      std::vector<float> x = uniform(32 * 1000, 2, -size, size);
      CHECK(agrees(x));
      for (float& v : x) v = std::nearbyint(v / size * 20) / 20 * size;  // many ties
      CHECK(agrees(x));
    }
    for (const float odd : {infinity, -infinity, not_a_number, -not_a_number, 0x1p-149f, 0x1p-119f,
                            -0.0f, std::nextafter(0x1p-119f, 0.0f), 3.4e38f}) {
      for (std::size_t at = 0; at < 32; ++at) {
        for (const float rest : {0.0f, 1.0f}) {
          std::vector<float> x(64, rest);
          x[at] = odd;
          CHECK(agrees(x));
        }
      }
    }
  }
}

// Upward, 127 / m times m is 127.00001 for some m, and then 128: as a byte -128, the largest number
// with the wrong sign.
TEST_CASE("round_activations: no number changes its sign, however floats are rounded") {
  struct Keep {
    ~Keep() { std::fesetround(FE_TONEAREST); }
  } keep;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    const std::vector<float> x = uniform(32 * 1000, 5);
    REQUIRE(std::fesetround(mode) == 0);
    const Rounded want(rule, x);
    bool near_x = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d = double{want.d[i / 32]};
      near_x = near_x && std::abs(double{x[i]} - d * want.q[i]) <= d * (1 + 0x1p-14);
    }
    std::vector<Rounded> got;
    for (const Isa isa : available_sets()) {
      got.emplace_back(kernels::kernels_of(isa).round_activations, x);
    }
    std::fesetround(FE_TONEAREST);
    CHECK(near_x);
    for (const Rounded& each : got) {
      CHECK(each.q == want.q);
      CHECK(each.sum == want.sum);
    }
  }
}
