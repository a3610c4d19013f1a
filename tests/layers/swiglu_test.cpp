#include "imbrex/layers/swiglu.hpp"

#include <doctest/doctest.h>

#include "tests/layers/oracle.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

template <class In, class Out>
Linear<In, Out> linear_of(std::initializer_list<float> values) {
  using List = join<Axes<Out>, Axes<In>>;
  return Linear<In, Out>(
      Weight<Axes<Out>, Axes<In>>(tensor_of<float, List>(shape_of<List>(), values)));
}

}  // namespace

TEST_CASE("swiglu by hand") {
  // gate (1 0; 0 1; 1 1), up (1 1; 2 0; 0 -1), down (1 1 1; 0 1 0), x = (1, 2).
  // gate x = (1, 2, 3), up x = (3, 2, -2); silu(1) = 0.731058579, silu(2) = 1.76159416,
  // silu(3) = 2.85772238: hidden (2.19317574, 3.52318832, -5.71544476).
  SwiGLU<Model<2>, Hidden<3>> ffn;
  ffn.gate = linear_of<Model<2>, Hidden<3>>({1, 0, 0, 1, 1, 1});
  ffn.up = linear_of<Model<2>, Hidden<3>>({1, 1, 2, 0, 0, -1});
  ffn.down = linear_of<Hidden<3>, Model<2>>({1, 1, 1, 0, 1, 0});
  const Tensor<float, Model<2>> x(Shape<Model<2>>(), {1, 2});
  const auto y = ffn(x);
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Model<2>>>);
  CHECK(y(0) == doctest::Approx(2.19317574 + 3.52318832 - 5.71544476).epsilon(1e-5));
  CHECK(y(1) == doctest::Approx(3.52318832).epsilon(1e-6));
  // With ReLU the gate is x itself: 3 + 4 - 6.
  ffn.activation = Activation::relu;
  CHECK(ffn(x)(0) == 1);
}

TEST_CASE("swiglu agrees with plain loops, of any view, and y may be x") {
  Random random(1);
  for (const Activation f : {Activation::silu, Activation::gelu}) {
    auto ffn = random_swiglu(Model<>(12), Hidden<>(20), random);
    ffn.activation = f;
    auto x = normal(random, Batch<>(3), Time<>(4), Model<>(12));
    const auto y = ffn(x);
    // Two sums of 12 and 20 products, each bounded as in attention_test.cpp.
    CHECK(worst_difference(elements(y), oracle::feed_forward(ffn, oracle::Table(x)).floats(),
                           5e-5) == "");
    const auto part = elements(ffn(slice<Time>(x, 1, 2)));
    CHECK(worst_difference(part, elements(slice<Time>(y, 1, 2)), 5e-5) == "");
    auto rows = normal(random, Time<>(5), Model<>(12));
    const auto want = elements(ffn(rows));
    const Scratched<SwiGLU<Model<>, Hidden<>>> memory(ffn, 5);
    ffn.into(rows, rows, memory.scratch);
    CHECK(different_bits(elements(rows), want) == "");
  }
}

TEST_CASE("swiglu: run-time shapes") {
  Random random(2);
  auto ffn = random_swiglu(Model<>(4), Hidden<>(6), random);
  CHECK(error_of([&] { ffn(zeros<float>(Time<>(2), Model<>(5))); }) ==
        "blk.0.ffn_up: ffn(x): the last axis of x must be the model's: x[Time=2, Model=5], "
        "up[Hidden=6, Model=4]");
  const auto x = zeros<float>(Time<>(2), Model<>(4));
  ffn.up = random_swiglu(Model<>(4), Hidden<>(7), random).up;
  CHECK(error_of([&] { ffn(x); }) ==
        "blk.0.ffn_up: swiglu: gate, up and down must have the same Model and Hidden: "
        "gate[Hidden=6, Model=4], up[Hidden=7, Model=4]");
  ffn = random_swiglu(Model<>(4), Hidden<>(6), random);
  ffn.down = random_swiglu(Model<>(5), Hidden<>(6), random).down;
  CHECK(error_of([&] { ffn(x); }) ==
        "blk.0.ffn_down: swiglu: gate, up and down must have the same Model and Hidden: "
        "gate[Hidden=6, Model=4], down[Model=5, Hidden=6]");
  CHECK(error_of([&] { SwiGLU<Model<4>, Hidden<6>>()(zeros<float>(Model<4>())); }) !=
        "nothing thrown");
}

TEST_CASE("swiglu.into: scratch and y that do not fit are found before any write") {
  Random random(3);
  const auto ffn = random_swiglu(Model<>(4), Hidden<>(6), random);
  const auto x = normal(random, Time<>(3), Model<>(4));
  const Scratched<SwiGLU<Model<>, Hidden<>>> memory(ffn, 3), fewer(ffn, 2);
  auto y = full(7.0f, Time<>(3), Model<>(4));
  CHECK(error_of([&] { ffn.into(y, x, fewer.scratch); }) ==
        "scratch must have been cut for the rows of x: scratch[Time=2, Hidden=6], "
        "expected[Time=3, Hidden=6]");
  auto narrow = full(7.0f, Time<>(3), Model<>(3));
  CHECK(error_of([&] { ffn.into(narrow, x, memory.scratch); }) ==
        "blk.0.ffn_down: into(y, x): the leading axes of y must be those of x: "
        "y[Time=3, Model=3], x[Time=3, Model=4]");
  auto columns = full(7.0f, Model<>(4), Time<>(3));
  CHECK(error_of([&] { ffn.into(transpose(columns), x, memory.scratch); }) != "nothing thrown");
  for (const auto& values : {elements(y), elements(narrow), elements(columns)}) {
    for (const float value : values) CHECK(value == 7);
  }
}

TEST_CASE("swiglu: an activation that there is not is an error, and nothing is written") {
  Random random(3);
  auto ffn = random_swiglu(Model<>(4), Hidden<>(6), random);
  ffn.activation = Activation(9);
  const auto x = normal(random, Time<>(3), Model<>(4));
  CHECK(error_of<ConfigError>([&] { ffn(x); }) == "activation = 9: expected 0 to 3");
  const Scratched<SwiGLU<Model<>, Hidden<>>> memory(ffn, 3);
  auto y = full(7.0f, Time<>(3), Model<>(4));
  CHECK(error_of<ConfigError>([&] { ffn.into(y, x, memory.scratch); }) ==
        "activation = 9: expected 0 to 3");
  for (const float value : elements(y)) CHECK(value == 7);
}
