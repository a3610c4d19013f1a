#include "imbrex/tensor/tensor.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % buffer_alignment == 0; }

}  // namespace

TEST_CASE("a new tensor is zero, row-major and aligned to 64 bytes") {
  static_assert(buffer_alignment == 64);
  for (index_t n = 1; n < 200; ++n) {
    const auto x = zeros<float>(Batch<>(n), Model<3>());
    CHECK(aligned(x.data()));
    bool zero = true;
    for (index_t i = 0; i < x.count(); ++i) zero = zero && x.data()[i] == 0.0f;
    CHECK(zero);
  }
  CHECK(aligned(zeros<std::int8_t>(Model<>(1)).data()));
  const Tensor<float, Batch<2>, Model<3>> y(Shape<Batch<2>, Model<3>>(), {1, 2, 3, 4, 5, 6});
  CHECK(y(1, 0) == 4.0f);
  CHECK(y(0, 2) == 3.0f);
  CHECK(full(2.5f, Model<>(3))(2) == 2.5f);
}

TEST_CASE("elements are written through positions") {
  auto x = zeros<float>(Time<>(2), Model<>(3));
  x(1, 2) = 7.0f;
  CHECK(x.data()[5] == 7.0f);
  x.at(0, 1) = 8.0f;
  CHECK(x.data()[1] == 8.0f);
}

TEST_CASE("positions outside are errors of `at`, which names the axis") {
  const auto x = zeros<float>(Time<>(2), Model<>(3));
  CHECK(message_of<ShapeError>([&] { x.at(2, 0); }) ==
        "at: the position lies outside its axis: [Time=2, position=2]");
  CHECK(message_of<ShapeError>([&] { x.at(0, -1); }) ==
        "at: the position lies outside its axis: [Model=3, position=-1]");
  const auto empty = zeros<float>(Time<>(0));
  CHECK_THROWS_AS(empty.at(0), const ShapeError&);
}

TEST_CASE("the number of elements given must be the shape's") {
  using X = Tensor<float, Model<>>;
  CHECK(message_of<ShapeError>([] { X(Shape<Model<>>(Model<>(2)), {1.0f, 2.0f, 3.0f}); }) ==
        "tensor: as many elements as the shape has: [expected=2, got=3]");
}

TEST_CASE("tensors without elements, and without axes") {
  const auto empty = zeros<float>(Batch<>(0), Model<512>());
  CHECK(empty.count() == 0);
  CHECK(empty.view().is_contiguous());
  const Tensor<float, Batch<>, Model<512>> copy = empty;
  CHECK(copy.count() == 0);
  const Tensor<float> scalar(Shape<>(), {3.0f});
  CHECK(scalar.count() == 1);
  CHECK(scalar() == 3.0f);
}

TEST_CASE("a size that no memory has is an error") {
  const index_t top = (std::numeric_limits<index_t>::max)();
  CHECK_THROWS_AS(zeros<float>(Batch<>(-1)), const ShapeError&);
  CHECK_THROWS_AS(zeros<float>(Batch<>(top), Model<>(2)), const ShapeError&);
  CHECK_THROWS_AS(zeros<float>(Batch<>(top / 2)), const CapacityError&);  // 4 bytes each
}

TEST_CASE("copies have elements of their own, moves take them along") {
  auto x = full(1.0f, Time<>(2), Model<>(3));
  auto copy = x;
  copy(0, 0) = 5.0f;
  CHECK(x(0, 0) == 1.0f);
  CHECK(copy(1, 2) == 1.0f);

  const float* data = x.data();
  auto moved = std::move(x);
  CHECK(moved.data() == data);

  const auto& same = moved;
  moved = same;
  CHECK(moved(1, 1) == 1.0f);
  copy = moved;
  CHECK(copy(0, 0) == 1.0f);
  CHECK(copy.data() != moved.data());

  auto longer = zeros<float>(Time<>(4), Model<>(3));
  longer = copy;
  CHECK(longer.size(0) == 2);
  CHECK(longer.count() == 6);
}

TEST_CASE("tensors live anywhere: in vectors, behind pointers, as members at odd offsets") {
  static_assert(alignof(Tensor<float, Model<512>>) <= alignof(std::max_align_t));
  std::vector<Tensor<float, Model<>>> many;
  for (index_t n = 0; n < 50; ++n) many.push_back(full(static_cast<float>(n), Model<>(n)));
  many.erase(many.begin());
  for (index_t n = 1; n < 50; ++n) {
    const auto& x = many[static_cast<std::size_t>(n - 1)];
    CHECK(x.count() == n);
    CHECK(x(n - 1) == static_cast<float>(n));
    CHECK(aligned(x.data()));
  }

  const auto shared = std::make_shared<Tensor<float, Model<7>>>(Model<7>());
  CHECK(aligned(shared->data()));

  struct Holder {
    char odd = 0;
    Tensor<float, Model<5>> x{Model<5>()};
  };
  std::vector<Holder> holders(3);
  for (const Holder& holder : holders) CHECK(aligned(holder.x.data()));
}

TEST_CASE("what was moved from keeps its shape, and its elements are a ShapeError") {
  auto x = full(1.0f, Time<>(2), Model<3>());
  const auto taken = std::move(x);
  const std::string moved = "tensor: its elements were moved away: [Time=2, Model=3]";
  CHECK(message_of<ShapeError>([&] { x.view(); }) == moved);
  CHECK(message_of<ShapeError>([&] { x.at(1, 2); }) == moved);
  const auto& same = x;
  CHECK(message_of<ShapeError>([&] { same.at(1, 2); }) == moved);
  CHECK(message_of<ShapeError>([&] { static_cast<void>(View<const float, Time<>, Model<>>{x}); }) ==
        moved);
  const auto copy = x;  // as much of nothing
  CHECK(copy.count() == 0);
  x = taken;
  CHECK(x(1, 2) == 1.0f);
  auto empty = zeros<float>(Time<>(0));
  const auto taken_too = std::move(empty);
  CHECK(empty.view().count() == 0);
}
