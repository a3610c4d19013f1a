#include "imbrex/tensor/by_name.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

#include "imbrex/tensor/tensor.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

/// Elements 0, 1, 2, ... in row-major order, so that each says where it stands.
template <AxisType... As>
Tensor<float, As...> counting(As... sized) {
  Tensor<float, As...> x(sized...);
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<float>(i);
  return x;
}

template <class X, class... As>
constexpr bool has_axes = std::is_same_v<axes_of<X>, Axes<As...>>;

}  // namespace

TEST_CASE("sizes by name") {
  const auto x = zeros<float>(Batch<>(2), Model<512>());
  CHECK(dim<Batch>(x) == 2);
  CHECK(dim<Model>(x) == 512);
  static_assert(std::is_same_v<decltype(axis<Model>(x)), Model<512>>);
  CHECK(axis<Batch>(x).size() == 2);
}

TEST_CASE("slice: some positions of an axis, of the same elements") {
  auto x = counting(Batch<2>(), Time<5>(), Model<3>());
  const auto s = slice<Time>(x, 3, 2);
  static_assert(has_axes<decltype(s), Batch<2>, Time<>, Model<3>>);
  CHECK(dim<Time>(s) == 2);
  CHECK(s(1, 0, 2) == 15 + 9 + 2);
  s(1, 1, 0) = -1.0f;
  CHECK(x(1, 4, 0) == -1.0f);
  CHECK_FALSE(s.is_contiguous());
  CHECK(slice<Time>(s, 1, 1)(0, 0, 0) == 12.0f);  // a slice of a slice

  CHECK(slice<Time>(x, 5, 0).count() == 0);
  CHECK(slice<Time>(x, 0, 5).is_contiguous());
  CHECK(message_of<ShapeError>([&] { slice<Time>(x, 4, 2); }) ==
        "slice: the range must lie inside the axis: [Time=5, from=4, count=2]");
  CHECK_THROWS_AS(slice<Time>(x, -1, 1), const ShapeError&);
  CHECK_THROWS_AS(slice<Time>(x, 0, -1), const ShapeError&);
  CHECK_THROWS_AS(slice<Time>(x, 6, 0), const ShapeError&);
  CHECK_THROWS_AS(slice<Time>(x, 1, (std::numeric_limits<index_t>::max)()), const ShapeError&);
}

TEST_CASE("split and merge undo each other") {
  auto x = counting(Time<2>(), Model<6>());
  const auto s = split<Model>(x, Heads<>(3), HeadDim<2>());
  static_assert(has_axes<decltype(s), Time<2>, Heads<>, HeadDim<2>>);
  CHECK(s.data() == x.data());
  CHECK(s(1, 2, 1) == 11.0f);
  CHECK(s(0, 1, 0) == 2.0f);
  const auto m = merge<Heads, HeadDim>(s, Model<6>());
  static_assert(has_axes<decltype(m), Time<2>, Model<6>>);
  CHECK(m(1, 5) == 11.0f);
  CHECK(m.is_contiguous());

  const auto outer = split<Time>(x, Batch<2>(), Keys<1>());
  CHECK(outer(1, 0, 3) == 9.0f);

  CHECK(message_of<ShapeError>([&] { split<Model>(x, Heads<>(4), HeadDim<2>()); }) ==
        "split: the two sizes must multiply to the axis's: [Model=6, Heads=4, HeadDim=2]");
  CHECK(message_of<ShapeError>([&] { merge<Heads, HeadDim>(s, Model<>(7)); }) ==
        "merge: the two axes must lie evenly and multiply to the new one: "
        "[Heads=3, HeadDim=2, outer stride=2, inner stride=1, Model=7]");
}

TEST_CASE("axes that do not lie evenly cannot be merged without a copy") {
  auto x = counting(Time<4>(), Heads<3>(), HeadDim<2>());
  const auto part = slice<Heads>(x, 0, 2);
  CHECK_THROWS_AS((merge<Time, Heads>(part, Keys<>(8))), const ShapeError&);
  CHECK(merge<Heads, HeadDim>(part, Model<>(4))(3, 3) == 21.0f);  // inside a row they do
  const auto turned = permute<Heads, Time, HeadDim>(x);
  CHECK_THROWS_AS((merge<Heads, Time>(turned, Keys<>(12))), const ShapeError&);
}

TEST_CASE("an inner axis of one position can be merged whatever its stride") {
  auto x = counting(Time<4>(), Heads<3>(), HeadDim<2>());
  const auto column = slice<HeadDim>(x, 1, 1);  // heads 2 apart, elements 1 apart
  const auto merged = merge<Heads, HeadDim>(column, Model<>(3));
  CHECK(merged.stride(1) == 2);
  for (index_t t = 0; t < 4; ++t) {
    for (index_t h = 0; h < 3; ++h) CHECK(&merged(t, h) == &x(t, h, 1));
  }
  const auto row = slice<Heads>(x, 2, 1);  // and an outer one
  CHECK(&merge<Heads, HeadDim>(row, Model<>(2))(3, 1) == &x(3, 2, 1));
}

TEST_CASE("temporary views are taken: they see elements of somebody else") {
  auto x = counting(Time<4>(), Heads<3>(), HeadDim<2>());
  CHECK(&slice<Heads>(slice<Time>(x, 1, 2), 2, 1)(1, 0, 1) == &x(2, 2, 1));
  static_assert(!outlives_the_call<Tensor<float, Time<4>>>);
  static_assert(!outlives_the_call<const Tensor<float, Time<4>>>);
  static_assert(outlives_the_call<Tensor<float, Time<4>>&>);
  static_assert(outlives_the_call<View<float, Time<4>>>);
}

TEST_CASE("permute and transpose move no element") {
  auto x = counting(Time<2>(), Heads<3>(), HeadDim<4>());
  const auto p = permute<Heads, Time, HeadDim>(x);
  static_assert(has_axes<decltype(p), Heads<3>, Time<2>, HeadDim<4>>);
  const auto t = transpose(x);
  static_assert(has_axes<decltype(t), Time<2>, HeadDim<4>, Heads<3>>);
  for (index_t i = 0; i < 2; ++i) {
    for (index_t h = 0; h < 3; ++h) {
      for (index_t k = 0; k < 4; ++k) {
        CHECK(&p(h, i, k) == &x(i, h, k));
        CHECK(&t(i, k, h) == &x(i, h, k));
      }
    }
  }
  Tensor<float> one(Shape<>(), {1.0f});
  const auto scalar = permute<>(one);
  static_assert(has_axes<decltype(scalar)>);
}

TEST_CASE("rename keeps sizes and elements") {
  auto x = counting(Time<>(2), Model<3>());
  const auto r = rename<Time, Keys>(x);
  static_assert(has_axes<decltype(r), Keys<>, Model<3>>);
  CHECK(r.data() == x.data());
  CHECK(dim<Keys>(r) == 2);
  static_assert(has_axes<decltype(rename<Model, Model>(x)), Time<>, Model<3>>);
}

TEST_CASE("const tensors give const views") {
  const auto x = counting(Time<2>(), Model<3>());
  static_assert(
      std::is_same_v<decltype(slice<Time>(x, 0, 1)), View<const float, Time<>, Model<3>>>);
  static_assert(std::is_same_v<decltype(transpose(x)), View<const float, Model<3>, Time<2>>>);
}

TEST_CASE("axes of size zero") {
  auto x = zeros<float>(Time<>(0), Model<>(6));
  CHECK(split<Model>(x, Heads<>(3), HeadDim<>(2)).count() == 0);
  CHECK(split<Time>(x, Batch<>(0), Keys<>(5)).count() == 0);
  CHECK(merge<Time, Model>(x, Vocab<>(0)).count() == 0);
  CHECK(transpose(x).count() == 0);
  CHECK(slice<Time>(x, 0, 0).count() == 0);
  auto y = zeros<float>(Time<>(6), Model<>(0));
  CHECK(merge<Time, Model>(y, Vocab<>(0)).count() == 0);
}
