#include "imbrex/layers/operand.hpp"

#include <doctest/doctest.h>

#include "imbrex/tensor/by_name.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

template <class... As>
using X = Tensor<float, As...>;
using Ids = Tensor<token_t, Batch<>, Time<>>;
using Gate = Linear<Model<512>, Hidden<1376>>;
using Out = Linear<Axes<Heads<8>, HeadDim<64>>, Model<512>>;
using Attend = Attention<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>>;
using Tile = Block<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>>;

// `accepts` asks what a call would assert.
static_assert(accepts<Gate, X<Model<512>>>);
static_assert(accepts<Gate, X<Batch<>, Time<>, Model<512>>>);
static_assert(accepts<Gate, X<Time<>, Model<>>>);  // what run time will check
static_assert(accepts<Gate, const X<Time<>, Model<512>>&>);
static_assert(accepts<Gate, View<const float, Time<>, Model<512>>>);
static_assert(!accepts<Gate, X<Time<>, Model<513>>>);
static_assert(!accepts<Gate, X<Time<>, Hidden<512>>>);
static_assert(!accepts<Gate, X<Model<512>, Time<>>>);
static_assert(!accepts<Gate, X<Hidden<>, Model<512>>>);  // would have Hidden twice
static_assert(!accepts<Gate, Tensor<float>>);
static_assert(!accepts<Gate, Tensor<int, Model<512>>>);
static_assert(!accepts<Gate, float>);
static_assert(accepts<Out, X<Time<>, Heads<8>, HeadDim<64>>>);
static_assert(!accepts<Out, X<Time<>, HeadDim<64>, Heads<8>>>);
static_assert(!accepts<Out, X<HeadDim<64>>>);
static_assert(accepts<RMSNorm<Model<512>>, X<Time<>, Model<512>>>);
static_assert(!accepts<LayerNorm<Model<512>>, X<Time<>, Hidden<512>>>);
static_assert(accepts<Embedding<Vocab<>, Model<512>>, Ids>);
static_assert(!accepts<Embedding<Vocab<>, Model<512>>, X<Batch<>, Time<>>>);
static_assert(!accepts<Embedding<Vocab<>, Model<512>>, Tensor<token_t, Time<>, Model<512>>>);
static_assert(accepts<Attend, X<Batch<>, Time<>, Model<512>>>);
static_assert(!accepts<Attend, X<Batch<>, Model<512>>>);
static_assert(accepts<SwiGLU<Model<512>, Hidden<1376>>, X<Model<512>>>);
static_assert(!accepts<FFN<Model<512>, Hidden<2048>>, X<Hidden<2048>>>);
static_assert(accepts<Tile, X<Batch<>, Time<>, Model<512>>>);
static_assert(!accepts<Tile, X<Batch<>, Time<>, Hidden<1376>>>);

}  // namespace

TEST_CASE("operand: which views are evenly spaced rows") {
  const auto x = zeros<float>(Batch<>(2), Time<>(3), Model<>(4));
  const auto rows = [](const auto& v) { return ConstOperand::of(v).is_rows(1); };
  CHECK(rows(x));
  CHECK(rows(slice<Model>(x, 1, 2)));
  CHECK(rows(slice<Batch>(x, 1, 1)));
  CHECK(rows(slice<Time>(x, 1, 1)));   // two rows, twelve apart
  CHECK(!rows(slice<Time>(x, 1, 2)));  // twelve and four apart
  CHECK(rows(slice<Batch>(slice<Time>(x, 1, 2), 0, 1)));
  CHECK(rows(slice<Time>(x, 1, 0)));  // nothing is even
  CHECK(!rows(transpose(x)));
  CHECK(rows(transpose(slice<Time>(slice<Batch>(x, 0, 1), 0, 1))));  // rows of one element
  CHECK(!rows(slice<Model>(transpose(slice<Batch>(x, 0, 1)), 0, 1)));
  const auto narrow = slice<Model>(x, 1, 2);
  CHECK(ConstOperand::of(x).is_rows(2));
  CHECK(!ConstOperand::of(narrow).is_rows(2));
}

TEST_CASE("operand: rows have their stride, and packed copies their order") {
  auto x = zeros<float>(Batch<>(2), Time<>(3), Model<>(4));
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<float>(i);
  const auto middle = slice<Time>(x, 1, 1);
  const RowsOperand even(ConstOperand::of(middle), 1);
  CHECK(even.rows().data == &x(0, 1, 0));
  CHECK(even.rows().rows == 2);
  CHECK(even.rows().stride == 12);
  const auto other = permute<Model, Batch, Time>(x);
  const RowsOperand packed(ConstOperand::of(other), 1);
  CHECK(packed.rows().rows == 8);
  CHECK(packed.rows().cols == 3);
  const auto want = elements(other);
  for (index_t i = 0; i < 24; ++i) {
    CHECK(packed.rows().data[i] == want[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("operand: a tensor that was moved from is a ShapeError of every layer") {
  Random random(1);
  const auto gate = random_linear<Model<4>, Hidden<6>>(random);
  auto x = normal(random, Time<>(2), Model<4>());
  const auto taken = std::move(x);
  const std::string moved = "tensor: its elements were moved away: ";
  CHECK(error_of([&] { gate(x); }) == moved + "[Time=2, Model=4]");
  auto y = zeros<float>(Time<>(2), Hidden<6>());
  CHECK(error_of([&] { gate.into(y, x); }) == moved + "[Time=2, Model=4]");
  CHECK(error_of([&] { gate.into(y, slice<Time>(x, 1, 1)); }) == moved + "[Time=2, Model=4]");
  const View<const float, Time<>, Model<4>> nothing(nullptr, taken.shape());
  CHECK(error_of([&] { gate(nothing); }) ==
        "layers take activations that have elements; here is a null pointer: x[Time=2, Model=4]");
  CHECK(gate(zeros<float>(Time<>(0), Model<4>())).count() == 0);

  auto weight = full(1.0f, Model<4>()), bias = full(0.0f, Model<4>());
  const auto kept = std::move(bias);
  CHECK(error_of([&] { LayerNorm<Model<4>>(weight, bias); }) == moved + "[Model=4]");
  CHECK(error_of([&] { Linear<Hidden<6>, Model<4>>({}, bias); }) == moved + "[Model=4]");
  const auto also_kept = std::move(weight);
  CHECK(error_of([&] { RMSNorm<Model<4>>{weight}(taken); }) == moved + "[Model=4]");
  const Embedding<Vocab<3>, Model<4>> embedding(
      random_weight<Axes<Vocab<3>>, Axes<Model<4>>>({}, {}, random));
  auto ids = zeros<token_t>(Time<>(2));
  const auto kept_ids = std::move(ids);
  CHECK(error_of([&] { embedding(ids); }) == moved + "[Time=2]");
}
