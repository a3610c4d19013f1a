#include "imbrex/tensor/view.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

#include "imbrex/tensor/tensor.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

float first(View<const float, Batch<>, Model<>> x) { return x(0, 0); }

template <class From, class To>
constexpr bool implicit = std::is_convertible_v<From, To>;
template <class From, class To>
constexpr bool explicit_only = !implicit<From, To> && std::is_constructible_v<To, From>;
template <class From, class To>
constexpr bool never = !std::is_constructible_v<To, From>;

using Static = View<float, Batch<2>, Model<512>>;
using Dynamic = View<float, Batch<>, Model<>>;
using Const = View<const float, Batch<2>, Model<512>>;

}  // namespace

TEST_CASE("conversions: to const and to dynamic sizes by itself, to static sizes when asked") {
  static_assert(implicit<Static, Dynamic> && explicit_only<Dynamic, Static>);
  static_assert(implicit<Static, Const> && never<Const, Static>);
  static_assert(implicit<Static, View<float, Batch<>, Model<512>>>);
  static_assert(never<Static, View<float, Batch<2>, Model<576>>>, "another size");
  static_assert(never<Static, View<float, Batch<2>, Hidden<512>>>, "another name");
  static_assert(never<Static, View<float, Model<512>, Batch<2>>>, "another order");
  static_assert(never<Static, View<double, Batch<2>, Model<512>>>, "another element");

  using X = Tensor<float, Batch<2>, Model<512>>;
  static_assert(implicit<X&, Dynamic> && implicit<X&, Const> && implicit<const X&, Const>);
  static_assert(!implicit<const X&, Static>, "a const tensor gives no writable view");
  static_assert(!implicit<Tensor<float, Batch<>, Model<>>&, Static>);
}

TEST_CASE("dynamic to static is checked at run time") {
  auto x = full(3.0f, Batch<>(2), Model<>(4));
  const View<float, Batch<>, Model<4>> right(x.view());
  CHECK(right.data() == x.data());
  CHECK(message_of<ShapeError>([&] { View<float, Batch<>, Model<5>>(x.view()); }) ==
        "axis Model: expected size 5, got 4");
  CHECK(first(x) == 3.0f);
  CHECK(first(full(4.0f, Batch<1>(), Model<1>())) == 4.0f);
}

TEST_CASE("views see the same elements") {
  auto x = zeros<float>(Batch<>(2), Model<>(3));
  const View<float, Batch<>, Model<>> a = x;
  const auto b = a;
  a(1, 2) = 5.0f;
  CHECK(x(1, 2) == 5.0f);
  CHECK(b(1, 2) == 5.0f);
  CHECK(b.data() == x.data());
}

TEST_CASE("strides: row-major without gaps unless others are given") {
  float data[24] = {};
  const Shape<Batch<2>, Time<3>, Model<4>> shape;
  const View<float, Batch<2>, Time<3>, Model<4>> dense(data, shape);
  CHECK(dense.stride(0) == 12);
  CHECK(dense.stride(1) == 4);
  CHECK(dense.stride(2) == 1);
  CHECK(dense.is_contiguous());
  CHECK(&dense(1, 2, 3) == data + 23);

  const index_t gaps[] = {5, 1};
  const View<float, Batch<2>, Model<4>> sparse(data, Shape<Batch<2>, Model<4>>(), gaps);
  CHECK_FALSE(sparse.is_contiguous());
  CHECK(&sparse(1, 3) == data + 8);

  const index_t one[] = {100, 1};  // the stride of an axis of one position does not matter
  CHECK(View<float, Batch<1>, Model<4>>(data, Shape<Batch<1>, Model<4>>(), one).is_contiguous());
}

TEST_CASE("strides that lead beyond what can be counted are an error") {
  float data[24] = {};
  constexpr index_t most = (std::numeric_limits<index_t>::max)();
  constexpr index_t least = (std::numeric_limits<index_t>::min)();
  const auto complaint = [&](index_t outer, index_t inner) {
    return message_of<ShapeError>([&] {
      const index_t strides[] = {outer, inner};
      View<float, Time<>, Model<4>>(data, Shape<Time<>, Model<4>>(Time<>(3), Model<4>()), strides);
    });
  };
  CHECK(complaint(most, 1) ==
        "view: its strides lead further than can be counted: x[Time=3, Model=4], "
        "strides[Time=9223372036854775807, Model=1]");
  for (const index_t stride :
       {most, most - 1, most / 2, most / 12 + 1, least, least + 1, -most / 3}) {
    CHECK(complaint(stride, 1) != "(nothing was thrown)");
    CHECK(complaint(4, stride) != "(nothing was thrown)");
  }
  CHECK(complaint(most / 24, most / 36) == "(nothing was thrown)");  // 4 bytes, 3 and 4 positions
  CHECK(complaint(most / 24 + 1, most / 24) != "(nothing was thrown)");
  CHECK(complaint(-4, -1) == "(nothing was thrown)");
}

TEST_CASE("views are constexpr") {
  constexpr float sum = [] {
    float data[] = {1, 2, 3, 4};
    const View<float, Time<2>, Model<2>> x(data, Shape<Time<2>, Model<2>>());
    return x(0, 1) + x.at(1, 1);
  }();
  static_assert(sum == 6.0f);
}
