#include "imbrex/kernels/softmax.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "imbrex/kernels/reference/softmax.hpp"
#include "tests/support/compare.hpp"

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

}  // namespace

TEST_CASE("exp keeps its documented error") {
  double worst = 0;
  for (float x = -87.0f; x < 88.5f; x += 0.00113f) {
    const double want = std::exp(static_cast<double>(x));
    const double got = static_cast<double>(kernels::tiles::exp(kernels::tiles::broadcast(x))[2]);
    worst = (std::max)(worst, std::abs(got - want) / want);
  }
  CHECK(worst < 0x1p-23);
  const auto exp = [](float x) { return kernels::tiles::exp(kernels::tiles::broadcast(x))[0]; };
  CHECK(exp(0) == 1);
  CHECK(exp(-inf) == 0);
  CHECK(exp(inf) == inf);
  CHECK(exp(89) == inf);  // e^89 = 4.5e38
  CHECK(exp(-104) == 0);  // e^-104 = 6.8e-46, less than half the smallest subnormal
  CHECK(exp(-100) == doctest::Approx(3.7835e-44).epsilon(0.03));  // 27 subnormal steps
  CHECK(std::isnan(exp(not_a_number)));
  CHECK(std::isnan(exp(-not_a_number)));
}

TEST_CASE("softmax: (1, 2, 3)") {
  // e / (e + e^2 + e^3) and so on.
  CHECK(worst_difference(softmax({1, 2, 3}), {0.0900305732f, 0.244728471f, 0.665240956f}, 2e-7) ==
        "");
}

TEST_CASE("softmax: large logits") {  // CASES C27
  CHECK(softmax({1000, 1000, -1000}) == std::vector<float>{0.5f, 0.5f, 0});
  CHECK(softmax({-1e5f, -1e5f}) == std::vector<float>{0.5f, 0.5f});
  CHECK(softmax({3e38f, -3e38f}) == std::vector<float>{1, 0});
}

TEST_CASE("softmax: infinities and NaN") {  // C26
  CHECK(softmax({-inf, -inf, -inf, -inf, -inf}) == std::vector<float>(5, 0.0f));
  CHECK(softmax({-inf, 4, -inf}) == std::vector<float>{0, 1, 0});
  for (std::size_t n = 1; n <= 9; ++n) {
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

TEST_CASE("softmax: every length up to 33, and a vocabulary") {
  for (index_t n = 0; n <= 34; ++n) {
    const std::vector<float> x = uniform(n == 34 ? 49153 : n, 3, -20, 20), want = reference(x);
    // An exponential (2^-23), x - m (40 * 2^-24 at most, relative to the result), sum and quotient.
    const double relative = 2 * unit_roundoff + 40 * unit_roundoff + 4 * unit_roundoff;
    CHECK(worst_difference(
              softmax(x).data(), want.data(), static_cast<index_t>(x.size()), [&](index_t i) {
                return static_cast<double>(want[static_cast<std::size_t>(i)]) * relative;
              }) == "");
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
