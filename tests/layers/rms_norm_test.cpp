#include "imbrex/layers/rms_norm.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

RMSNorm<Model<2>> pair_norm(float w0, float w1, const NormOptions& options) {
  return RMSNorm<Model<2>>(Tensor<float, Model<2>>(Shape<Model<2>>(), {w0, w1}), options);
}
Tensor<float, Model<2>> pair(float a, float b) { return {Shape<Model<2>>(), {a, b}}; }

}  // namespace

TEST_CASE("rms_norm by hand") {
  // mean(3^2, 4^2) = 12.5: 3 / sqrt(12.5) = 0.848528137, 4 / sqrt(12.5) * 2 = 2.26274170.
  const auto y = pair_norm(1, 2, {.eps = 0})(pair(3, 4));
  CHECK(y(0) == doctest::Approx(0.848528137).epsilon(4 * unit_roundoff));
  CHECK(y(1) == doctest::Approx(2.26274170).epsilon(4 * unit_roundoff));
}

TEST_CASE("rms_norm: eps is inside the root") {
  // 0.001 / sqrt(1e-6 + 1e-6) = sqrt(1/2); outside it would be 0.999.
  const auto y = pair_norm(1, 1, {.eps = 1e-6f})(pair(0.001f, -0.001f));
  CHECK(y(0) == doctest::Approx(0.707106781).epsilon(1e-6));
  CHECK(y(1) == -y(0));
  CHECK(elements(pair_norm(1, 1, {})(pair(0, 0))) == std::vector<float>{0, 0});
}

TEST_CASE("rms_norm: the offset of the weight is added once") {
  const auto plain = pair_norm(1.5f, 1, {.eps = 0})(pair(3, 4));
  const auto offset = pair_norm(0.5f, 0, {.eps = 0, .weight_offset = 1})(pair(3, 4));
  CHECK(elements(plain) == elements(offset));
}

TEST_CASE("rms_norm: statistics are good where squares are tiny, huge or many") {
  // Deviation 0.058, 32 wide: where statistics in bf16 were 1.7 times off. Squares of 1e25 are
  // infinite in float.
  Random random(1);
  for (const float deviation : {0.058f, 1e-20f, 1e25f}) {
    for (const index_t width : {32, 4096}) {
      auto x = normal(random, Time<>(3), Model<>(width));
      for (index_t i = 0; i < x.count(); ++i) x.data()[i] *= deviation;
      const RMSNorm<Model<>> norm(full(1.0f, Model<>(width)), {.eps = 0});
      const auto y = norm(x);
      for (index_t t = 0; t < 3; ++t) {
        double squares = 0;
        for (index_t j = 0; j < width; ++j) {
          squares += static_cast<double>(x(t, j)) * static_cast<double>(x(t, j));
        }
        const double root = std::sqrt(squares / static_cast<double>(width));
        for (index_t j = 0; j < width; ++j) {
          // Two roundings: of 1 / root, and of the product.
          CHECK(std::abs(static_cast<double>(y(t, j)) - static_cast<double>(x(t, j)) / root) <=
                3 * unit_roundoff * std::abs(static_cast<double>(y(t, j))));
        }
      }
    }
  }
}

TEST_CASE("rms_norm in place, over several axes, of any view") {
  Random random(2);
  const RMSNorm<Axes<Heads<2>, HeadDim<3>>> norm(norm_weight(random, Heads<2>(), HeadDim<3>()));
  auto x = normal(random, Batch<>(2), Time<>(4), Heads<2>(), HeadDim<3>());
  const auto y = norm(x);
  for (index_t t = 0; t < 4; ++t) {
    double squares = 0, normed = 0;  // the six numbers of a row share one mean
    for (index_t i = 0; i < 6; ++i) {
      squares += std::pow(static_cast<double>(x(1, t, i / 3, i % 3)), 2);
      normed +=
          std::pow(static_cast<double>(y(1, t, i / 3, i % 3) / norm.weight()(i / 3, i % 3)), 2);
    }
    CHECK(normed == doctest::Approx(6 * squares / (squares + 6e-5)).epsilon(1e-5));
  }
  const auto strided = slice<Time>(x, 1, 2);
  CHECK(different_bits(elements(norm(strided)), elements(slice<Time>(y, 1, 2))) == "");
  norm.into(x, x);
  CHECK(different_bits(elements(x), elements(y)) == "");
}

TEST_CASE("rms_norm: run-time shapes") {
  const RMSNorm<Model<>> norm(full(1.0f, Model<>(4)), {}, "blk.1.attn_norm");
  CHECK(error_of([&] { norm(zeros<float>(Time<>(2), Model<>(3))); }) ==
        "blk.1.attn_norm: rms_norm(x): the last axis of x must be the norm's: x[Time=2, Model=3], "
        "weight[Model=4]");
  auto y = zeros<float>(Time<>(3), Model<>(4));
  CHECK(error_of([&] { norm.into(y, zeros<float>(Time<>(2), Model<>(4))); }) ==
        "blk.1.attn_norm: into(y, x): the leading axes of y must be those of x: "
        "y[Time=3, Model=4], x[Time=2, Model=4]");
  CHECK(norm(zeros<float>(Time<>(0), Model<>(4))).count() == 0);
}

TEST_CASE("rms_norm: an eps that is none") {
  for (const float eps : {-1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK_THROWS_AS(RMSNorm<Model<2>>(full(1.0f, Model<2>()), {.eps = eps}), ConfigError);
  }
}
