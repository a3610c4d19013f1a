#include "imbrex/layers/ffn.hpp"

#include <doctest/doctest.h>

#include "tests/layers/oracle.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

FFN<Model<>, Hidden<>> random_ffn(index_t model, index_t hidden, Random& random) {
  const Shape<Model<>> m{Model<>(model)};
  const Shape<Hidden<>> f{Hidden<>(hidden)};
  FFN<Model<>, Hidden<>> ffn;
  ffn.up = with_bias(random_linear<Model<>, Hidden<>>(f, m, random, "h.0.up"), random);
  ffn.down = with_bias(random_linear<Hidden<>, Model<>>(m, f, random, "h.0.down"), random);
  return ffn;
}

}  // namespace

TEST_CASE("ffn by hand") {
  // up (1 1; 1 -1) + (0, 1), x = (1, 3): (4, -1). down (1 2): with ReLU 4, with GELU
  // gelu(4) = 4 Phi(4) = 3.99987331, gelu(-1) = -Phi(-1) = -0.158655254.
  FFN<Model<2>, Hidden<2>> ffn;
  const Tensor<float, Hidden<2>> bias(Shape<Hidden<2>>(), {0, 1});
  ffn.up = Linear<Model<2>, Hidden<2>>(
      Weight<Axes<Hidden<2>>, Axes<Model<2>>>(
          Tensor<float, Hidden<2>, Model<2>>(Shape<Hidden<2>, Model<2>>(), {1, 1, 1, -1})),
      bias);
  ffn.down = Linear<Hidden<2>, Model<2>>(Weight<Axes<Model<2>>, Axes<Hidden<2>>>(
      Tensor<float, Model<2>, Hidden<2>>(Shape<Model<2>, Hidden<2>>(), {1, 2, 0, 1})));
  const Tensor<float, Time<1>, Model<2>> x(Shape<Time<1>, Model<2>>(), {1, 3});
  CHECK(ffn(x)(0, 0) == doctest::Approx(3.99987331 - 2 * 0.158655254).epsilon(1e-6));
  ffn.activation = Activation::relu;
  CHECK(elements(ffn(x)) == std::vector<float>{4, 0});
}

TEST_CASE("ffn agrees with plain loops, and y may be x") {
  Random random(1);
  const auto ffn = random_ffn(12, 20, random);
  auto x = normal(random, Time<>(5), Model<>(12));
  const auto y = ffn(x);
  CHECK(worst_difference(elements(y), oracle::feed_forward(ffn, oracle::Table(x)).floats(), 5e-5) ==
        "");
  const Scratched<FFN<Model<>, Hidden<>>> memory(ffn, 5);
  ffn.into(x, x, memory.scratch);
  CHECK(different_bits(elements(x), elements(y)) == "");
}

TEST_CASE("ffn: run-time shapes") {
  Random random(2);
  auto ffn = random_ffn(4, 6, random);
  CHECK(error_of([&] { ffn(zeros<float>(Time<>(2), Model<>(5))); }) ==
        "h.0.up: ffn(x): the last axis of x must be the model's: x[Time=2, Model=5], "
        "up[Hidden=6, Model=4]");
  ffn.down = random_ffn(4, 7, random).down;
  CHECK(error_of([&] { ffn(zeros<float>(Time<>(2), Model<>(4))); }) ==
        "h.0.down: ffn: up and down must have the same Model and Hidden: up[Hidden=6, Model=4], "
        "down[Model=4, Hidden=7]");
}
