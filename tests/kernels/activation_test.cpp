#include "imbrex/kernels/activation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "imbrex/kernels/reference/activation.hpp"
#include "imbrex/kernels/reference/soft_cap.hpp"
#include "imbrex/kernels/soft_cap.hpp"
#include "tests/support/compare.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr Activation all[] = {Activation::silu, Activation::gelu, Activation::gelu_tanh,
                              Activation::relu};

float one(float x, Activation f) {
  float y = 0;
  kernels::activate({&y, 1, 1, 1}, {&x, 1, 1, 1}, f);
  return y;
}

static_assert(kernels::reference::activation(0, Activation::silu) == 0);
static_assert(kernels::reference::activation(-2, Activation::relu) == 0);
static_assert(kernels::reference::activation(1, Activation::silu) > 0.7310585786 &&
              kernels::reference::activation(1, Activation::silu) < 0.7310585787);

}  // namespace

TEST_CASE("activations: values from their formulas") {
  const double tolerance = 4e-7;
  CHECK(std::abs(one(1, Activation::silu) - 0.731058579f) < tolerance);    // 1 / (1 + 1/e)
  CHECK(std::abs(one(-3, Activation::silu) - -0.142277620f) < tolerance);  // -3 / (1 + e^3)
  CHECK(std::abs(one(1, Activation::gelu) - 0.841344746f) < tolerance);    // Phi(1)
  CHECK(std::abs(one(-3, Activation::gelu) - -0.00404969409f) < 4e-9);     // -3 Phi(-3)
  CHECK(std::abs(one(1, Activation::gelu_tanh) - 0.841191991f) < tolerance);
  CHECK(std::abs(one(-3, Activation::gelu_tanh) - -0.00363739f) < 1e-8);
  CHECK(one(2.5f, Activation::relu) == 2.5f);
  CHECK(one(-2.5f, Activation::relu) == 0);
}

TEST_CASE("activations: limits, and no NaN on the way there") {  // CASES C42
  for (const Activation f : all) {
    CHECK(one(inf, f) == inf);
    CHECK(one(-inf, f) == 0);
    CHECK(one(0, f) == 0);
    CHECK(std::isnan(one(not_a_number, f)));
    for (float x = 10; x < 1e38f; x *= 1.7f) {
      CHECK(one(x, f) == doctest::Approx(x).epsilon(1e-4));
      CHECK(std::abs(one(-x, f)) < 5e-4f);
    }
    for (const float x : {-86.0f, -87.5f, -88.0f, -89.0f, -103.0f, -105.0f, -3e38f, 1e-40f}) {
      CHECK(std::abs(one(x, f)) < 1e-35f);
    }
  }
}

TEST_CASE("activations and gates agree with the reference at every size up to 33") {
  for (const Activation f : all) {
    for (index_t n = 0; n <= 33; ++n) {
      const index_t rows = 3, stride = n + 1;
      const std::vector<float> x = uniform(rows * stride, 1, -9, 9), up = uniform(rows * stride, 2);
      std::vector<float> got(x.size(), 1.0f), want = got;
      kernels::activate({got.data(), rows, n, stride}, {x.data(), rows, n, stride}, f);
      kernels::reference::activate({want.data(), rows, n, stride}, {x.data(), rows, n, stride}, f);
      // |f| <= 9; an exponential (2^-23 relative) of an argument known to 2^-24 * 18 or so.
      const double allowed = 9 * 30 * unit_roundoff;
      CHECK(worst_difference(got, want, allowed) == "");

      kernels::gate({got.data(), rows, n, stride}, {x.data(), rows, n, stride},
                    {up.data(), rows, n, stride}, f);
      kernels::reference::gate({want.data(), rows, n, stride}, {x.data(), rows, n, stride},
                               {up.data(), rows, n, stride}, f);
      CHECK(worst_difference(got, want, allowed) == "");

      std::vector<float> in_place = x;  // y is gated
      kernels::gate({in_place.data(), rows, n, stride}, {in_place.data(), rows, n, stride},
                    {up.data(), rows, n, stride}, f);
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < n; ++j) {
          const std::size_t at = static_cast<std::size_t>(i * stride + j);
          CHECK(in_place[at] == got[at]);
        }
      }
    }
  }
}

TEST_CASE("soft_cap: 50 tanh(100 / 50), small and large numbers") {  // C28
  std::vector<float> x{100, 0, -100, 1e30f, -inf, inf, 1e-3f, 17, 17.6f, not_a_number}, want = x;
  const index_t n = static_cast<index_t>(x.size());
  kernels::reference::soft_cap({want.data(), 1, n, n}, {x.data(), 1, n, n}, 50);
  kernels::soft_cap({x.data(), 1, n, n}, {x.data(), 1, n, n}, 50);
  CHECK(std::abs(x[0] - 48.2013790f) < 1e-5f);
  CHECK(x[1] == 0);
  CHECK(x[2] == -x[0]);
  CHECK(x[3] == 50);
  CHECK(x[4] == -50);
  CHECK(x[5] == 50);
  CHECK(worst_difference(x.data(), want.data(), n, [&](index_t i) {
          return 8 * unit_roundoff *
                 std::abs(static_cast<double>(want[static_cast<std::size_t>(i)]));
        }) == "");
}

TEST_CASE("tanh: relative error over its whole range") {
  double worst = 0;
  for (float x = 1e-6f; x < 20; x *= 1.0007f) {
    const double want = std::tanh(static_cast<double>(x));
    const double got = static_cast<double>(kernels::tiles::tanh(kernels::tiles::broadcast(x))[1]);
    worst = (std::max)(worst, std::abs(got - want) / want);
  }
  CHECK(worst < 4 * unit_roundoff);
}
