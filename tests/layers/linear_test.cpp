#include "imbrex/layers/linear.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

// W = (1 2 3; 4 5 6): two outputs, three inputs.
Linear<Model<3>, Hidden<2>> by_hand() {
  return Linear<Model<3>, Hidden<2>>(
      Weight<Axes<Hidden<2>>, Axes<Model<3>>>(
          Tensor<float, Hidden<2>, Model<3>>(Shape<Hidden<2>, Model<3>>(), {1, 2, 3, 4, 5, 6})),
      "blk.17.ffn_gate");
}

/// Whole numbers from -4 to 4: sums of their products are exact in float, in any order.
template <AxisType... As>
Tensor<float, As...> whole(std::uint64_t seed, As... axes_of_x) {
  Random random(seed);
  Tensor<float, As...> x(axes_of_x...);
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<float>(random() % 9) - 4;
  return x;
}

/// sum_i x[t][i] w[o][i] for rows of x, in double.
std::vector<float> product(const std::vector<float>& x, const float* w, index_t outputs,
                           index_t inputs) {
  std::vector<float> y;
  for (std::size_t t = 0; t < x.size(); t += static_cast<std::size_t>(inputs)) {
    for (index_t o = 0; o < outputs; ++o) {
      double sum = 0;
      for (index_t i = 0; i < inputs; ++i) {
        sum += static_cast<double>(x[t + static_cast<std::size_t>(i)]) *
               static_cast<double>(w[o * inputs + i]);
      }
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}

}  // namespace

TEST_CASE("linear: the product by hand") {
  // (1, 0, -1): 1 - 3 and 4 - 6. (2, 1, 1/2): 2 + 2 + 1.5 and 8 + 5 + 3.
  const Tensor<float, Time<>, Model<3>> x(Shape<Time<>, Model<3>>(Time<>(2), Model<3>()),
                                          {1, 0, -1, 2, 1, 0.5f});
  const auto y = by_hand()(x);
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Time<>, Hidden<2>>>);
  CHECK(elements(y) == std::vector<float>{-2, -2, 5.5f, 16});
}

TEST_CASE("linear: a bias is added to every row") {
  const Tensor<float, Hidden<2>> bias(Shape<Hidden<2>>(), {0.5f, 10});
  const Linear<Model<3>, Hidden<2>> layer(by_hand().weight(), bias);
  const auto x = full(1.0f, Time<>(6), Model<3>());  // rows: 6 + 0.5 and 15 + 10
  CHECK(elements(layer(x)) ==
        std::vector<float>{6.5f, 25, 6.5f, 25, 6.5f, 25, 6.5f, 25, 6.5f, 25, 6.5f, 25});
  const Tensor<float, Hidden<>> longer(Shape<Hidden<>>(Hidden<>(3)), {1, 2, 3});
  const Weight<Axes<Hidden<>>, Axes<Model<>>> weight(by_hand().weight());
  CHECK(error_of([&] { Linear<Model<>, Hidden<>>(weight, longer, "blk.3.q"); }) ==
        "blk.3.q: linear: the bias must have the weight's output axes: bias[Hidden=3], "
        "weight[Hidden=2, Model=3]");
}

TEST_CASE("linear: heads lie in the weight's rows in memory order, and H d need not be Model") {
  // Row r = 2 h + e of the weight is (r, 10 r, 100 r); of (1, 1, 1) it makes 111 r.
  Tensor<float, Heads<2>, HeadDim<2>, Model<3>> w((Heads<2>()), HeadDim<2>(), Model<3>());
  for (index_t r = 0; r < 4; ++r) {
    for (index_t i = 0; i < 3; ++i) {
      w(r / 2, r % 2, i) = static_cast<float>(r) * (i == 0 ? 1.0f : i == 1 ? 10.0f : 100.0f);
    }
  }
  const Linear<Model<3>, Axes<Heads<2>, HeadDim<2>>> q(
      Weight<Axes<Heads<2>, HeadDim<2>>, Axes<Model<3>>>(std::move(w)));
  const auto y = q(full(1.0f, Time<>(1), Model<3>()));
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Time<>, Heads<2>, HeadDim<2>>>);
  CHECK(elements(y) == std::vector<float>{0, 111, 222, 333});

  // And back: output m sums all (h, e) times m + 1.
  Tensor<float, Model<3>, Heads<2>, HeadDim<2>> back((Model<3>()), Heads<2>(), HeadDim<2>());
  for (index_t i = 0; i < back.count(); ++i) back.data()[i] = static_cast<float>(i / 4 + 1);
  const Linear<Axes<Heads<2>, HeadDim<2>>, Model<3>> out(
      Weight<Axes<Model<3>>, Axes<Heads<2>, HeadDim<2>>>(std::move(back)));
  CHECK(elements(out(y)) == std::vector<float>{666, 1332, 1998});
}

TEST_CASE("linear takes any axes before its own, and any strides") {
  const auto w = whole(1, Hidden<5>(), Model<7>());
  const Linear<Model<7>, Hidden<5>> layer{Weight<Axes<Hidden<5>>, Axes<Model<7>>>(w)};
  const auto check = [&](const auto& x) {
    CHECK(elements(layer(x)) == product(elements(x), w.data(), 5, 7));
  };
  check(whole(2, Model<7>()));
  check(whole(3, Time<>(3), Model<7>()));
  check(whole(4, Batch<2>(), Time<>(3), Model<7>()));
  check(whole(5, Batch<2>(), Heads<>(2), Time<3>(), Model<>(7)));
  static_assert(std::is_same_v<decltype(layer(whole(2, Model<7>()))), Tensor<float, Hidden<5>>>);

  const auto wide = whole(6, Batch<>(2), Time<>(6), Model<>(11));
  check(slice<Model>(wide, 2, 7));                               // rows 11 apart
  check(slice<Time>(slice<Model>(wide, 0, 7), 1, 3));            // unevenly spaced: packed
  check(permute<Time, Batch, Model>(slice<Model>(wide, 4, 7)));  // another order
  const auto columns = whole(7, Model<7>(), Time<>(4));
  check(transpose(columns));  // elements of a row apart
}

TEST_CASE("linear: no rows, no result; zero sequences or positions") {
  CHECK(by_hand()(zeros<float>(Time<>(0), Model<3>())).count() == 0);
  const auto y = by_hand()(zeros<float>(Batch<>(0), Time<>(5), Model<3>()));
  CHECK(y.size(1) == 5);
  CHECK(y.count() == 0);
}

TEST_CASE("linear.into writes rows of any spacing and nothing beside them") {
  const auto x = whole(8, Time<>(6), Model<3>());
  auto wide = full(-99.0f, Time<>(6), Hidden<>(5));
  by_hand().into(slice<Hidden>(wide, 2, 2), x);
  const auto want = by_hand()(x);
  for (index_t t = 0; t < 6; ++t) {
    for (index_t j : {0, 1, 4}) CHECK(wide(t, j) == -99);
    for (index_t o : {0, 1}) CHECK(wide(t, o + 2) == want(t, o));
  }
}

TEST_CASE("linear: what only run time can know is a ShapeError with path and both shapes") {
  const Linear<Model<>, Hidden<>> layer(Weight<Axes<Hidden<>>, Axes<Model<>>>(by_hand().weight()),
                                        "blk.17.ffn_gate");
  CHECK(error_of([&] { layer(zeros<float>(Batch<>(2), Time<>(3), Model<>(4))); }) ==
        "blk.17.ffn_gate: linear(x): the last axis of x must be the layer's input axis: "
        "x[Batch=2, Time=3, Model=4], weight[Hidden=2, Model=3]");
  const auto x = zeros<float>(Time<>(3), Model<>(3));
  auto y = full(7.0f, Time<>(3), Hidden<>(4));
  CHECK(error_of([&] { layer.into(y, x); }) ==
        "blk.17.ffn_gate: linear.into(y, x): y must end with the layer's output axis: "
        "y[Time=3, Hidden=4], weight[Hidden=2, Model=3]");
  auto rows = full(7.0f, Time<>(2), Hidden<>(2));
  CHECK(error_of([&] { layer.into(rows, x); }) ==
        "blk.17.ffn_gate: into(y, x): the leading axes of y must be those of x: "
        "y[Time=2, Hidden=2], x[Time=3, Model=3]");
  auto deep = full(7.0f, Batch<>(2), Time<>(4), Hidden<>(2));
  const auto deep_x = zeros<float>(Batch<>(2), Time<>(2), Model<>(3));
  CHECK(error_of([&] { layer.into(slice<Time>(deep, 0, 2), deep_x); }) ==
        "blk.17.ffn_gate: into(y, x): y must lie in evenly spaced rows: "
        "y[Batch=2, Time=2, Hidden=2], strides[Batch=8, Time=2, Hidden=1]");
  for (const auto& values : {elements(y), elements(rows), elements(deep)}) {
    for (const float value : values) CHECK(value == 7);
  }
  CHECK(error_of([&] { Linear<Model<3>, Hidden<2>>()(zeros<float>(Model<3>())); }) ==
        "linear(x): the layer has no weights yet: x[Model=3], weight[Hidden=2, Model=3]");
}

TEST_CASE("linear: static and dynamic sizes give the same bits") {
  Random random(9);
  const auto fixed = with_bias(random_linear<Model<40>, Hidden<24>>(random), random);
  Tensor<float, Hidden<>> bias((Hidden<>(24)));
  for (index_t i = 0; i < 24; ++i) bias(i) = fixed.bias()[i];
  const Linear<Model<>, Hidden<>> loaded(Weight<Axes<Hidden<>>, Axes<Model<>>>(fixed.weight()),
                                         bias);
  for (const index_t rows : {1, 3, 50}) {
    const auto x = normal(random, Time<>(rows), Model<40>());
    const View<const float, Time<>, Model<>> dynamic = x;
    CHECK(different_bits(elements(fixed(x)), elements(loaded(dynamic))) == "");
  }
}

TEST_CASE("linear: quantised weights are as good as decoded ones") {
  constexpr index_t inputs = 512, outputs = 9;
  Random random(10);
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_0, Dtype::q4_1}) {
    CAPTURE(name(dtype));
    const auto w = normal(random, Hidden<outputs>(), Model<inputs>());
    const index_t bytes = outputs * row_bytes(dtype, inputs);
    Buffer<std::byte> stored(bytes);
    kernels::encode(dtype, w.data(), w.count(), stored.data());
    Tensor<float, Hidden<outputs>, Model<inputs>> decoded{Hidden<outputs>(), Model<inputs>()};
    kernels::decode(dtype, stored.data(), w.count(), decoded.data());
    const std::byte* data = stored.data();
    const Linear<Model<inputs>, Hidden<outputs>> layer(
        Weight<Axes<Hidden<outputs>>, Axes<Model<inputs>>>(
            Hidden<outputs>(), Model<inputs>(), dtype, data, bytes, Owner::of(std::move(stored))));
    for (const index_t rows : {1, 7}) {
      const auto x = normal(random, Time<>(rows), Model<inputs>());
      const auto got = elements(layer(x)),
                 want = product(elements(x), decoded.data(), outputs, inputs);
      // The bound of kernels/matmul.hpp, (K/16 + 260) u sum |x w|, and the rounding of `want`.
      const auto allowed = [&](index_t i) {
        double sum = 0;
        for (index_t k = 0; k < inputs; ++k) {
          sum += std::abs(static_cast<double>(x(i / outputs, k) * decoded(i % outputs, k)));
        }
        return (inputs / 16 + 261) * unit_roundoff * sum;
      };
      CHECK(worst_difference(got.data(), want.data(), rows * outputs, allowed) == "");
    }
  }
}

TEST_CASE("linear: rows of y that overlap, and a layer that was moved from") {
  Random random(1);
  auto linear = random_linear<Model<4>, Hidden<3>>(random);
  const auto x = full(1.0f, Time<>(2), Model<4>());
  std::vector<float> room(6);
  const Shape<Time<>, Hidden<3>> shape(Time<>(2), Hidden<3>());
  for (const index_t step : {0, 2, -2}) {
    const index_t strides[] = {step, 1};
    View<float, Time<>, Hidden<3>> y(room.data() + (step < 0 ? 2 : 0), shape, strides);
    CHECK_THROWS_AS(linear.into(y, x), ShapeError);
  }
  const auto taken = std::move(linear);
  CHECK(taken(x).count() == 6);
  CHECK_THROWS_AS(linear(x), ShapeError);  // NOLINT: on purpose
}
