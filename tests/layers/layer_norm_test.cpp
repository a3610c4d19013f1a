#include "imbrex/layers/layer_norm.hpp"

#include <doctest/doctest.h>

#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using Row = Tensor<float, Model<4>>;
Row row(std::initializer_list<float> values) { return {Shape<Model<4>>(), values}; }

}  // namespace

TEST_CASE("layer_norm by hand") {
  // (1, 2, 3, 4): mean 2.5, variance 1.25 (divided by n): -1.5 / sqrt(1.25) = -1.34164079.
  const LayerNorm<Model<4>> norm(row({1, 2, 1, 1}), row({0, 0, 1, 0}), 0);
  const double want[] = {-1.34164079, -0.894427191, 1.44721360, 1.34164079};
  const auto y = norm(row({1, 2, 3, 4}));
  for (index_t i = 0; i < 4; ++i) {
    CHECK(y(i) == doctest::Approx(want[i]).epsilon(4 * unit_roundoff));
  }
}

TEST_CASE("layer_norm: a large mean costs no digits") {
  const LayerNorm<Model<4>> norm(row({1, 1, 1, 1}), row({0, 0, 0, 0}), 0);
  const auto near_zero = norm(row({1, 2, 3, 4}));
  const auto far_away = norm(row({8388601, 8388602, 8388603, 8388604}));  // 2^23: whole numbers
  for (index_t i = 0; i < 4; ++i) {
    CHECK(far_away(i) == doctest::Approx(static_cast<double>(near_zero(i))).epsilon(1e-6));
  }
}

TEST_CASE("layer_norm: eps is inside the root, and keeps a constant row finite") {
  const LayerNorm<Model<4>> norm(row({1, 1, 1, 1}), row({0, 0, 0, 5}), 1.25f);
  CHECK(norm(row({1, 2, 3, 4}))(0) == doctest::Approx(-1.5 / std::sqrt(2.5)).epsilon(1e-6));
  CHECK(elements(norm(row({3, 3, 3, 3}))) == std::vector<float>{0, 0, 0, 5});
}

TEST_CASE("layer_norm in place, of any view, and its errors") {
  Random random(1);
  const LayerNorm<Model<>> norm(norm_weight(random, Model<>(5)), norm_weight(random, Model<>(5)),
                                1e-5f, "blk.0.ln");
  auto x = normal(random, Batch<>(2), Time<>(3), Model<>(5));
  const auto y = norm(x);
  CHECK(different_bits(elements(norm(slice<Time>(x, 1, 2))), elements(slice<Time>(y, 1, 2))) == "");
  norm.into(x, x);
  CHECK(different_bits(elements(x), elements(y)) == "");
  CHECK(error_of([&] { norm(zeros<float>(Model<>(4))); }) ==
        "blk.0.ln: layer_norm(x): the last axis of x must be the norm's: x[Model=4], "
        "weight[Model=5]");
  CHECK(error_of([&] {
          LayerNorm<Model<>>(full(1.0f, Model<>(4)), full(0.0f, Model<>(3)), 1e-5f, "ln");
        }) ==
        "ln: layer_norm: weight and bias must have the same sizes: weight[Model=4], bias[Model=3]");
}
