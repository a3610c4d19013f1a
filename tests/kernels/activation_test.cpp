#include "imbrex/kernels/activation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/reference/activation.hpp"
#include "imbrex/kernels/reference/soft_cap.hpp"
#include "imbrex/kernels/soft_cap.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/layout.hpp"

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

/// The largest |got - want| / |want| of `function`, in 1/unit_roundoff, over x.
double worst_relative(std::vector<float> x, Activation f) {
  const index_t n = static_cast<index_t>(x.size());
  std::vector<float> y(x.size());
  kernels::activate({y.data(), 1, n, n}, {x.data(), 1, n, n}, f);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = kernels::reference::activation(static_cast<double>(x[i]), f);
    worst = (std::max)(worst, std::abs(static_cast<double>(y[i]) - want) / std::abs(want));
  }
  return worst / unit_roundoff;
}

static_assert(kernels::reference::activation(0, Activation::silu) == 0);
static_assert(kernels::reference::activation(-2, Activation::relu) == 0);
static_assert(kernels::reference::activation(1, Activation::silu) > 0.7310585786 &&
              kernels::reference::activation(1, Activation::silu) < 0.7310585787);

}  // namespace

TEST_CASE("activations: values from their formulas") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
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
}

TEST_CASE("activations: limits, and no NaN on the way there") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const Activation f : all) {
      CHECK(one(inf, f) == inf);
      CHECK(one(-inf, f) == 0);
      CHECK(one(0, f) == 0);
      CHECK(std::isnan(one(not_a_number, f)));
      CHECK(std::isnan(one(-not_a_number, f)));
      for (float x = 10; x < 1e38f; x *= 1.7f) {
        CHECK(one(x, f) == doctest::Approx(x).epsilon(1e-4));
        CHECK(std::abs(one(-x, f)) < 5e-4f);
      }
      for (const float x : {-86.0f, -87.5f, -88.0f, -89.0f, -103.0f, -105.0f, -3e38f, 1e-40f}) {
        CHECK(std::abs(one(x, f)) < 1e-35f);
      }
    }
  }
}

// Of e^-x relatively 2 u by itself, and the rounding of its argument: u |x| (silu), u x^2/2 and of
// the square u x^2/2 again (gelu), u 2|u'| of gelu_tanh's. Then the sum, the quotient, the product.
TEST_CASE("activations: small results are known to their last digits") {
  std::vector<float> x;
  for (float v = -12; v < 12; v += 0.00173f) x.push_back(v);
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    CHECK(worst_relative(x, Activation::silu) < 2 + 12 + 4);
    CHECK(worst_relative(x, Activation::gelu) < 2 + 144 + 8);
    // 1.6 (12 + 0.0447 12^3) = 142, in five roundings; but e^-88 is where the quotient ends
    std::vector<float> less = x;
    std::erase_if(less, [](float v) { return v < -9; });
    CHECK(worst_relative(less, Activation::gelu_tanh) < 5 * 1.6 * (9 + 0.0447 * 729) + 4);
    CHECK(worst_relative(x, Activation::relu) == 0);
  }
}

TEST_CASE("activations and gates agree with the reference on every set, at every size") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const Activation f : all) {
      CAPTURE(static_cast<int>(f));
      for (const index_t n : row_sizes) {
        CAPTURE(n);
        const RowLayout at{3, n, n + 1};
        const std::vector<float> numbers = uniform(at.size(), 1, -9, 9);
        const GuardedFloats x(numbers), up(uniform(at.size(), 2));
        const GuardedFloats got(at.filled(1));
        std::vector<float> want = at.filled(1);
        kernels::activate(at.of(got), at.of(x), f);
        kernels::reference::activate(at.of(want), at.of(x), f);
        // |f| <= 9; an exponential (2^-23 relative) of an argument known to 2^-24 * 18 or so.
        const double allowed = 9 * 30 * unit_roundoff;
        CHECK(worst_difference(got.values(), want, allowed) == "");
        if (n > 0) CHECK(one(x.data()[n - 1], f) == got.data()[n - 1]);

        kernels::gate(at.of(got), at.of(x), at.of(up), f);
        kernels::reference::gate(at.of(want), at.of(x), at.of(up), f);
        CHECK(worst_difference(got.values(), want, allowed) == "");

        std::vector<float> result = got.values(), in_place = numbers;  // y is gated
        kernels::gate(at.of(in_place), at.of(in_place), at.of(up), f);
        for (index_t i = n; i < at.size(); i += at.stride) {  // between the rows
          CHECK(result[static_cast<std::size_t>(i)] == 1.0f);
          result[static_cast<std::size_t>(i)] = numbers[static_cast<std::size_t>(i)];
        }
        CHECK(different_bits(in_place, result) == "");
      }
    }
  }
}

TEST_CASE("soft_cap: 50 tanh(100 / 50), small and large numbers") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
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
}

TEST_CASE("soft_cap agrees with the reference on every set, at every size") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const index_t n : row_sizes) {
      CAPTURE(n);
      const RowLayout at{3, n, n + 1};
      const GuardedFloats x(uniform(at.size(), 1, -90, 90));
      const GuardedFloats got(at.filled(1));
      std::vector<float> want = at.filled(1);
      kernels::soft_cap(at.of(got), at.of(x), 30);
      kernels::reference::soft_cap(at.of(want), at.of(x), 30);
      // tanh to 4 u, a quotient before it and a product after it.
      CHECK(worst_difference(got.values(), want, 30 * 7 * unit_roundoff) == "");
    }
  }
}

// A cap of 1 leaves tanh alone.
TEST_CASE("tanh: relative error over its whole range") {
  std::vector<float> x;
  for (float v = 1e-6f; v < 20; v *= 1.0007f) x.push_back(v);
  const index_t n = static_cast<index_t>(x.size());
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    std::vector<float> y(x.size());
    kernels::soft_cap({y.data(), 1, n, n}, {x.data(), 1, n, n}, 1);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::tanh(static_cast<double>(x[i]));
      worst = (std::max)(worst, std::abs(static_cast<double>(y[i]) - want) / want);
    }
    CHECK(worst < 4 * unit_roundoff);
  }
}
