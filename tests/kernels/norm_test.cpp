#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/layer_norm.hpp"
#include "imbrex/kernels/reference/layer_norm.hpp"
#include "imbrex/kernels/reference/rms_norm.hpp"
#include "imbrex/kernels/rms_norm.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/layout.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

std::vector<float> rms(std::vector<float> x, const std::vector<float>& weight, float eps,
                       float offset = 0) {
  const index_t n = static_cast<index_t>(x.size());
  kernels::rms_norm({x.data(), 1, n, n}, {x.data(), 1, n, n}, weight.data(), eps, offset);
  return x;
}

// (3, 3, 3, 3) has the root mean square 3: worked out by the compiler.
constexpr bool reference_is_constexpr() {
  const float x[] = {3, 3, 3, -3}, weight[] = {1, 2, 0, 1};
  float y[4] = {};
  kernels::reference::rms_norm({y, 1, 4, 4}, {x, 1, 4, 4}, weight, 0);
  const bool rms_right = y[0] == 1 && y[1] == 2 && y[2] == 0 && y[3] == -1;
  // Mean 1.5, deviations (1.5, 1.5, 1.5, -4.5), variance (3 * 2.25 + 20.25) / 4 = 6.75; with
  // eps = 2.25 the root is 3: 0.5, 0.5, 0.5, -1.5.
  kernels::reference::layer_norm({y, 1, 4, 4}, {x, 1, 4, 4}, weight, nullptr, 2.25f);
  return rms_right && y[0] == 0.5f && y[1] == 1 && y[2] == 0 && y[3] == -1.5f;
}
static_assert(reference_is_constexpr());

}  // namespace

TEST_CASE("rms_norm: (3, 4)") {  // root mean square sqrt(12.5)
  CHECK(worst_difference(rms({3, 4}, {1, 10}, 0), {0.848528137f, 11.3137085f}, 1e-6) == "");
}

TEST_CASE("rms_norm: eps stands inside the root") {
  CHECK(rms({1, 1, 1}, {1, 1, 1}, 3) == std::vector<float>{0.5f, 0.5f, 0.5f});  // 1 / sqrt(1 + 3)
  CHECK(rms({0, 0}, {1, 1}, 1e-6f) == std::vector<float>{0, 0});
}

TEST_CASE("rms_norm: a weight stored as its distance from 1") {
  CHECK(rms({2, 2}, {0, 0.5f}, 0, 1) == std::vector<float>{1, 1.5f});
}

TEST_CASE("rms_norm: squares beyond the range of float") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const index_t n : {2, 4, 8, 16, 32, 34, 66}) {  // 3 4 3 4 ...: sqrt(12.5)
      for (const float scale : {1e30f, 1e-30f, 1e-37f}) {
        std::vector<float> x, want;
        for (index_t i = 0; i < n; i += 2) {
          x.insert(x.end(), {3 * scale, 4 * scale});
          want.insert(want.end(), {0.848528137f, 1.13137085f});
        }
        CHECK(worst_difference(rms(x, std::vector<float>(x.size(), 1.0f), 0), want, 2e-7) == "");
      }
    }
  }
}

TEST_CASE("norms: an infinity or a NaN makes a row of NaN, and no other") {
  constexpr float bad[] = {std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const index_t n : {1, 9, 16, 33, 64, 67}) {
      const RowLayout at{3, n, n};
      const std::vector<float> weight = uniform(n, 8, 1, 2), x = uniform(at.size(), 7);
      for (const float number : bad) {
        for (const index_t place : {index_t{0}, n / 2, n - 1}) {
          std::vector<float> y = x, z = x;
          y[static_cast<std::size_t>(n + place)] = z[static_cast<std::size_t>(n + place)] = number;
          kernels::rms_norm(at.of(y), at.of(y), weight.data(), 1e-5f);
          kernels::layer_norm(at.of(z), at.of(z), weight.data(), nullptr, 1e-5f);
          for (index_t i = 0; i < at.size(); ++i) {
            const std::size_t j = static_cast<std::size_t>(i);
            // Of an infinity the others are 0 in rms_norm: x / inf.
            const bool is_nan = i / n == 1 && (std::isnan(number) || i % n == place);
            CHECK(std::isnan(y[j]) == is_nan);
            CHECK(std::isnan(z[j]) == (i / n == 1));
          }
        }
      }
    }
  }
}

TEST_CASE("layer_norm: (1, 2, 3, 4)") {
  // Mean 2.5, variance 1.25: (x - 2.5) / sqrt(1.25001), as torch.nn.functional.layer_norm has it.
  const std::vector<float> x{1, 2, 3, 4}, weight{1, 1, 2, 1}, bias{0, 0, 10, 1};
  std::vector<float> y(4);
  kernels::layer_norm({y.data(), 1, 4, 4}, {x.data(), 1, 4, 4}, weight.data(), bias.data(), 1e-5f);
  CHECK(worst_difference(y, {-1.34163542f, -0.447211807f, 10.8944236f, 2.34163542f}, 1e-6) == "");
  kernels::layer_norm({y.data(), 1, 4, 4}, {x.data(), 1, 4, 4}, weight.data(), nullptr, 1e-5f);
  CHECK(worst_difference(y, {-1.34163542f, -0.447211807f, 0.894423614f, 1.34163542f}, 4e-7) == "");
}

TEST_CASE("layer_norm: a mean much larger than the deviations") {
  // Both formulas meet the same rounded x; E[x^2] - mean^2 in float would leave nothing.
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const index_t n : {2, 8, 16, 34, 64}) {
      std::vector<float> x, want;
      for (index_t i = 0; i < n; i += 2) {
        x.insert(x.end(), {4096.25f, 4096.75f});
        want.insert(want.end(), {-1, 1});
      }
      const std::vector<float> weight(x.size(), 1.0f);
      std::vector<float> y(x.size());
      kernels::layer_norm({y.data(), 1, n, n}, {x.data(), 1, n, n}, weight.data(), nullptr, 0);
      CHECK(y == want);
    }
  }
}

TEST_CASE("norms agree with their references on every set, at every size, with strides, in place") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const index_t n : row_sizes) {
      CAPTURE(n);
      const RowLayout at{5, n, n + 3};
      const std::vector<float> x = uniform(at.size(), 7, -3, 5);
      const GuardedFloats weight(uniform(n, 8)), bias(uniform(n, 9)), got(x), layer(x);
      std::vector<float> want = x;
      kernels::rms_norm(at.of(got), at.of(got), weight.data(), 1e-5f, 1);
      kernels::reference::rms_norm(at.of(want), at.of(want), weight.data(), 1e-5f, 1);
      // |x| / rms <= sqrt(n), |1 + w| <= 2; four roundings.
      const double largest = std::sqrt(static_cast<double>(n)) * 2;
      CHECK(worst_difference(got.values(), want, 5 * unit_roundoff * largest) == "");

      want = x;
      kernels::layer_norm(at.of(layer), at.of(layer), weight.data(), bias.data(), 1e-2f);
      kernels::reference::layer_norm(at.of(want), at.of(want), weight.data(), bias.data(), 1e-2f);
      // Besides, the mean (at most 5) is rounded to float and divided by at least sqrt(eps) = 0.1.
      const double allowed = 6 * unit_roundoff * largest + 5 * unit_roundoff / 0.1;
      CHECK(worst_difference(layer.values(), want, allowed) == "");
    }
  }
}

TEST_CASE("norms: the same bits for any number of threads") {
  const index_t rows = 130, n = 577;
  const std::vector<float> x = uniform(rows * n, 10), weight = uniform(n, 11);
  std::vector<float> first, first_layer;
  for (const int threads : {1, 2, 3, 8}) {
    set_threads(threads);
    std::vector<float> y(x.size()), z(x.size());
    kernels::rms_norm({y.data(), rows, n, n}, {x.data(), rows, n, n}, weight.data(), 1e-5f);
    kernels::layer_norm({z.data(), rows, n, n}, {x.data(), rows, n, n}, weight.data(), nullptr, 0);
    if (first.empty()) first = y, first_layer = z;
    CHECK(different_bits(y, first) == "");
    CHECK(different_bits(z, first_layer) == "");
  }
  set_threads(0);
}
