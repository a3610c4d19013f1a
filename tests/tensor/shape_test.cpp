#include "imbrex/tensor/shape.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "tests/message_of.hpp"

using namespace imbrex;

TEST_CASE("only the sizes that the compiler does not know are stored") {
  static_assert(std::is_empty_v<Shape<Time<16>, Model<512>>>);
  static_assert(sizeof(Shape<Batch<>, Time<16>, Model<>>) == 2 * sizeof(index_t));
  const Shape<Batch<>, Time<16>, Model<>> shape(Batch<>(2), Time<16>(), Model<>(512));
  CHECK(shape.size(0) == 2);
  CHECK(shape.size(1) == 16);
  CHECK(shape.size(2) == 512);
  CHECK(shape.count() == 2 * 16 * 512);
  static_assert(Shape<Time<16>, Model<512>>().count() == 16 * 512);
  static_assert(Shape<Batch<>, Model<3>>(Batch<>(2), Model<3>()).count() == 6);
}

TEST_CASE("no axes: one element; an axis of size zero: none") {
  CHECK(Shape<>().count() == 1);
  CHECK(Shape<Batch<>, Model<512>>(Batch<>(0), Model<512>()).count() == 0);
  CHECK(Shape<Batch<0>, Model<512>>().count() == 0);
}

TEST_CASE("sizes from an array are checked against those the compiler knows") {
  using S = Shape<Batch<>, Model<512>>;
  const index_t right[] = {2, 512}, wrong[] = {2, 511}, negative[] = {-2, 512};
  CHECK(S::from_sizes(right) == S(Batch<>(2), Model<512>()));
  CHECK_FALSE(S::from_sizes(right) == S(Batch<>(3), Model<512>()));
  CHECK(message_of<ShapeError>([&] { S::from_sizes(wrong); }) ==
        "axis Model: expected size 512, got 511");
  CHECK(message_of<ShapeError>([&] { S::from_sizes(negative); }) ==
        "axis Batch: expected size 0 or more, got -2");
  CHECK_THROWS_AS(S(Batch<>(-1), Model<512>()), const ShapeError&);
  CHECK_THROWS_AS(make_axis<Model<512>>(511), const ShapeError&);
  CHECK_THROWS_AS(make_axis<Model<>>(-1), const ShapeError&);
  CHECK(make_axis<Model<>>(0).size() == 0);
}

TEST_CASE("a number of elements that 63 bits do not hold is an error") {
  const index_t top = (std::numeric_limits<index_t>::max)();
  using S = Shape<Batch<>, Time<>, Model<>>;
  CHECK(S(Batch<>(top), Time<>(1), Model<>(1)).count() == top);
  CHECK(message_of<ShapeError>([&] { S(Batch<>(top), Time<>(2), Model<>(1)); }) ==
        "the number of elements does not fit 63 bits: "
        "[Batch=9223372036854775807, Time=2, Model=1]");
  // 2^32 * 2^32 is 0 in 64 bits.
  CHECK_THROWS_AS(S(Batch<>(index_t{1} << 32), Time<>(index_t{1} << 32), Model<>(1)),
                  const ShapeError&);
  // Empty, but its strides could not be counted.
  CHECK_THROWS_AS(S(Batch<>(0), Time<>(index_t{1} << 62), Model<>(4)), const ShapeError&);
  CHECK(S(Batch<>(0), Time<>(index_t{1} << 62), Model<>(1)).count() == 0);
}

TEST_CASE("the notation of shapes") {
  const char* names[] = {"Batch", "Time", "Model"};
  const index_t sizes[] = {2, -1, 512};
  CHECK(to_string(ShapeRef{"x", names, sizes, 3}) == "x[Batch=2, Time=-1, Model=512]");
  CHECK(to_string(ShapeRef{"", names, sizes, 0}) == "[]");
  CHECK(message_of<ShapeError>([&] {
          fail<ShapeError>("gate(x): no", {"x", names, sizes, 1},
                           {"gate", names + 2, sizes + 2, 1});
        }) == "gate(x): no: x[Batch=2], gate[Model=512]");
}
