#include "imbrex/kernels/softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/reference/softmax.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/layout.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> softmax(std::vector<float> x) {
  const index_t n = static_cast<index_t>(x.size());
  kernels::softmax({x.data(), 1, n, n}, {x.data(), 1, n, n});  // in place
  return x;
}

std::vector<float> reference(const std::vector<float>& x) {
  const index_t n = static_cast<index_t>(x.size());
  std::vector<float> y(x.size());
  kernels::reference::softmax({y.data(), 1, n, n}, {x.data(), 1, n, n});
  return y;
}

/// e^x, which softmax has with a peak of 0.
std::vector<float> exponentials(std::vector<float> x) {
  kernels::active_kernels().softmax.exponentials(x.data(), x.data(), static_cast<index_t>(x.size()),
                                                 0);
  return x;
}

}  // namespace

TEST_CASE("exp keeps its documented error") {
  std::vector<float> x = {88.72f, 88.7228f};  // the latter is 3.4027e38, the largest 3.4028e38
  for (float v = -87.0f; v < 88.7f; v += 0.00113f) x.push_back(v);
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    const std::vector<float> got = exponentials(x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::exp(static_cast<double>(x[i]));
      worst = (std::max)(worst, std::abs(static_cast<double>(got[i]) - want) / want);
    }
    CHECK(worst < 0x1p-23);
    const auto exp = [](float v) { return exponentials({v})[0]; };
    CHECK(exp(0) == 1);
    CHECK(exp(-0.0f) == 1);
    CHECK(exp(-inf) == 0);
    CHECK(exp(-3e38f) == 0);
    CHECK(exp(inf) == inf);
    CHECK(exp(3e38f) == inf);
    CHECK(exp(89) == inf);  // e^89 = 4.5e38
    CHECK(exp(-104) == 0);  // e^-104 = 6.8e-46, less than half the smallest subnormal
    CHECK(std::isnan(exp(not_a_number)));
    CHECK(std::isnan(exp(-not_a_number)));
  }
}

TEST_CASE("exp: subnormal results are off by half a step of 1.4e-45 besides") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    const auto exp = [](float v) { return exponentials({v})[0]; };
    for (float v = -104; v < -87; v += 0.01f) {
      const double want = std::exp(static_cast<double>(v));
      CHECK(std::abs(static_cast<double>(exp(v)) - want) <= 0x1p-150 + want * 0x1p-23);
    }
  }
}

TEST_CASE("softmax: (1, 2, 3)") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    // e / (e + e^2 + e^3) and so on.
    CHECK(worst_difference(softmax({1, 2, 3}), {0.0900305732f, 0.244728471f, 0.665240956f}, 2e-7) ==
          "");
  }
}

TEST_CASE("softmax: large logits") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    CHECK(softmax({1000, 1000, -1000}) == std::vector<float>{0.5f, 0.5f, 0});
    CHECK(softmax({-1e5f, -1e5f}) == std::vector<float>{0.5f, 0.5f});
    CHECK(softmax({3e38f, -3e38f}) == std::vector<float>{1, 0});
  }
}

TEST_CASE("softmax: infinities and NaN") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    CHECK(softmax({-inf, -inf, -inf, -inf, -inf}) == std::vector<float>(5, 0.0f));
    CHECK(softmax({-inf, 4, -inf}) == std::vector<float>{0, 1, 0});
    for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 67}) {
      for (std::size_t at = 0; at < n; ++at) {
        for (const float other : {1.0f, -inf}) {
          std::vector<float> x(n, other);
          x[at] = not_a_number;
          for (const float v : softmax(x)) CHECK(std::isnan(v));
          for (const float v : reference(x)) CHECK(std::isnan(v));
        }
      }
    }
  }
}

TEST_CASE("softmax agrees with the reference on every set, at every size, and a vocabulary") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    std::vector<index_t> sizes(std::begin(row_sizes), std::end(row_sizes));
    sizes.push_back(128256);
    for (const index_t n : sizes) {
      CAPTURE(n);
      const RowLayout at{n > 1000 ? 1 : 3, n, n + 3};
      const std::vector<float> x = uniform(at.size(), 3, -20, 20);
      const GuardedFloats got(x);
      std::vector<float> want = x;
      kernels::softmax(at.of(got), at.of(got));
      kernels::reference::softmax(at.of(want), at.of(want));
      // An exponential (2^-23), x - m (40 * 2^-24 at most, relative to the result), sum and
      // quotient.
      const double relative = 2 * unit_roundoff + 40 * unit_roundoff + 4 * unit_roundoff;
      CHECK(worst_difference(got.data(), want.data(), at.size(), [&](index_t i) {
              return static_cast<double>(want[static_cast<std::size_t>(i)]) * relative;
            }) == "");
    }
  }
}

TEST_CASE("softmax: rows with a stride, on any number of threads") {
  const index_t rows = 41, cols = 1001, stride = 1003;
  const std::vector<float> x = uniform(rows * stride, 4);
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 8}) {
    set_threads(threads);
    std::vector<float> y(x.size(), -1.0f);
    kernels::softmax({y.data(), rows, cols, stride}, {x.data(), rows, cols, stride});
    if (first.empty()) first = y;
    CHECK(different_bits(y, first) == "");
  }
  set_threads(0);
  for (index_t i = 0; i < rows; ++i) {
    const float* row = first.data() + i * stride;
    double sum = 0;
    for (index_t j = 0; j < cols; ++j) sum += static_cast<double>(row[j]);
    CHECK(sum == doctest::Approx(1).epsilon(1e-6));
    CHECK((i + 1 == rows || row[cols] == -1.0f));
  }
}
