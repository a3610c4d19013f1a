#include "imbrex/layers/block.hpp"

#include <doctest/doctest.h>

#include "imbrex/layers/ffn.hpp"
#include "imbrex/layers/layer_norm.hpp"
#include "tests/layers/oracle.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using Small = Block<Model<>, Heads<>, KvHeads<>, HeadDim<>, Hidden<>>;

Small small(std::uint64_t seed) {
  Random random(seed);
  return random_block(Model<>(16), Heads<>(4), KvHeads<>(2), HeadDim<>(6), Hidden<>(24), random);
}

Tensor<float, Time<>, Model<>> activations(index_t time, std::uint64_t seed) {
  Random random(seed);
  return normal(random, Time<>(time), Model<>(16));
}

// As derived in attention_test.cpp, for eight steps instead of five: the numbers are about 1, and
// what a norm divides by is too.
constexpr double allowed = 2e-4;

template <class B, class X>
std::string off_oracle(const B& block, const X& x) {
  return worst_difference(elements(block(x)), oracle::block(block, oracle::Table(x)).floats(),
                          allowed);
}

}  // namespace

TEST_CASE("block: 512 wide, 8 heads over 2, feed-forward 1376, on [2, 16, 512]") {
  Random random(1);
  const auto block =
      random_block(Model<512>(), Heads<8>(), KvHeads<2>(), HeadDim<64>(), Hidden<1376>(), random);
  const auto x = normal(random, Batch<>(2), Time<>(16), Model<512>());
  const auto y = block(x);
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Batch<>, Time<>, Model<512>>>);
  CHECK(y.size(0) == 2);
  CHECK(y.size(1) == 16);
  CHECK(y.size(2) == 512);
  // Sums of 512 and 1376 products round to 25 times more than those of 16 and 24 in the worst case;
  // on average to 5 times more, and what is measured here is 1e-5.
  const auto second = slice<Batch>(x, 1, 1);
  auto rows = zeros<float>(Time<>(16), Model<512>());
  for (index_t i = 0; i < rows.count(); ++i) rows.data()[i] = second.data()[i];
  CHECK(worst_difference(elements(slice<Batch>(y, 1, 1)),
                         oracle::block(block, oracle::Table(rows)).floats(), 5 * allowed) == "");
}

TEST_CASE("block agrees with plain loops: norms before, after, on both sides, or none") {
  Random random(2);
  const auto x = activations(9, 3);
  const auto weight = [&] { return norm_weight(random, Model<>(16)); };
  Small block = small(4);
  CHECK(off_oracle(block, x) == "");
  block.attention_post_norm.emplace(weight());
  block.ffn_post_norm.emplace(weight());
  CHECK(off_oracle(block, x) == "");
  block.attention_norm.reset();
  block.ffn_norm.reset();
  CHECK(off_oracle(block, x) == "");
  block.attention_post_norm.reset();
  block.ffn_post_norm.reset();
  CHECK(off_oracle(block, x) == "");
  // The oracle can tell them apart.
  CHECK(worst_difference(elements(block(x)), oracle::block(small(4), oracle::Table(x)).floats(),
                         0.1) != "");
}

TEST_CASE("block of LayerNorm and the two-matrix feed-forward layer, as in GPT-2") {
  Random random(5);
  using M = Model<16>;
  using F = Hidden<32>;
  Block<M, Heads<4>, KvHeads<4>, HeadDim<4>, F, FFN<M, F>, LayerNorm<M>> block;
  block.attention_norm.emplace(norm_weight(random, M()), norm_weight(random, M()));
  block.attention = random_attention(M(), Heads<4>(), KvHeads<4>(), HeadDim<4>(), random, true);
  block.ffn_norm.emplace(norm_weight(random, M()), norm_weight(random, M()));
  block.ffn.up = with_bias(random_linear<M, F>(random), random);
  block.ffn.down = with_bias(random_linear<F, M>(random), random);
  CHECK(off_oracle(block, normal(random, Time<>(7), M())) == "");
}

TEST_CASE("block: with zero weights the residual stream passes unchanged") {
  Small block = small(6);
  block.attention.out =
      Linear<Axes<Heads<>, HeadDim<>>, Model<>>(Weight<Axes<Model<>>, Axes<Heads<>, HeadDim<>>>(
          zeros<float>(Model<>(16), Heads<>(4), HeadDim<>(6))));
  block.ffn.down = Linear<Hidden<>, Model<>>(
      Weight<Axes<Model<>>, Axes<Hidden<>>>(zeros<float>(Model<>(16), Hidden<>(24))));
  const auto x = activations(9, 7);
  CHECK(elements(block(x)) == elements(x));
}

TEST_CASE("block: sequences of a batch do not see each other; views; no rows") {
  const Small block = small(8);
  Random random(9);
  const auto x = normal(random, Batch<>(3), Time<>(8), Model<>(16));
  const auto y = block(x);
  for (index_t b = 0; b < 3; ++b) {
    const auto alone = block(slice<Batch>(x, b, 1));
    CHECK(different_bits(elements(alone), elements(slice<Batch>(y, b, 1))) == "");
  }
  // The first five rows see only themselves.
  CHECK(worst_difference(elements(block(slice<Time>(x, 0, 5))), elements(slice<Time>(y, 0, 5)),
                         allowed) == "");
  CHECK(block(zeros<float>(Batch<>(2), Time<>(0), Model<>(16))).count() == 0);
  CHECK(block(zeros<float>(Batch<>(0), Time<>(4), Model<>(16))).size(1) == 4);
}

TEST_CASE("block: the same bits for any number of threads") {
  const Small block = small(10);
  const auto x = activations(70, 11);
  set_threads(1);
  const auto one = elements(block(x));
  for (const int n : {2, 3, 8}) {
    set_threads(n);
    CHECK(different_bits(elements(block(x)), one) == "");
  }
  set_threads(0);
}

TEST_CASE("block: a bad call is a ShapeError, and x is as before") {
  const auto x = activations(3, 12);
  Small block = small(13);
  CHECK(error_of([&] { block(zeros<float>(Time<>(3), Model<>(15))); }) ==
        "blk.0.attn_q: block(x): x must end with the axes Time and the model's: "
        "x[Time=3, Model=15], q[Heads=4, HeadDim=6, Model=16]");
  CHECK(error_of([&] { Small()(x); }) != "nothing thrown");

  const auto message = [&](const Small& wrong, index_t rows_of_segment) {
    auto stream = x;
    const Scratched<Small> memory(wrong, 3);
    Cache cache(2, 3, 6);
    const Segment segment = cache.segment(0, rows_of_segment, 0);
    const Tensor<index_t, Time<>> positions(Shape<Time<>>(Time<>(3)), {0, 1, 2});
    const auto text =
        error_of([&] { wrong.into(stream, positions, {&segment, 1}, memory.scratch); });
    CHECK(elements(stream) == elements(x));
    return text;
  };
  CHECK(message(block, 2) ==
        "attention: every row must belong to a segment: [rows of x=3, rows of segments=2]");
  Random random(14);
  block.ffn = random_swiglu(Model<>(15), Hidden<>(24), random);
  CHECK(message(block, 3) ==
        "blk.0.ffn_down: block: attention, norms and ffn must have the same Model: "
        "attention.out[Model=16, Heads=4, HeadDim=6], ffn.down[Model=15, Hidden=24]");
  block = small(13);
  block.ffn_norm.emplace(norm_weight(random, Model<>(15)));
  CHECK(message(block, 3) != "nothing thrown");
  block = small(13);
  block.ffn.up = random_swiglu(Model<>(16), Hidden<>(25), random).up;
  CHECK(message(block, 3) != "nothing thrown");
}

TEST_CASE("block.into: scratch, positions and x that do not fit are found before any write") {
  const auto x = activations(4, 15);
  Small block = small(16);
  // Without norms before the sublayers the first step is a copy of x's rows.
  block.attention_norm.reset();
  block.ffn_norm.reset();
  Buffer<float> floats(4096);
  for (index_t i = 0; i < floats.size(); ++i) floats.data()[i] = 7;
  Arena arena(floats.data(), floats.size());
  const auto fits = block.scratch(arena, 4), fewer = block.scratch(arena, 2);
  Cache cache(2, 4, 6);
  const Segment segment = cache.segment(0, 4, 0);
  const Tensor<index_t, Time<>> positions(Shape<Time<>>(Time<>(4)), {0, 1, 2, 3});
  const auto message = [&](const Small::Scratch& scratch, const auto& at) {
    auto stream = x;
    const auto text = error_of([&] { block.into(stream, at, {&segment, 1}, scratch); });
    CHECK(elements(stream) == elements(x));
    for (index_t i = 0; i < floats.size(); ++i) REQUIRE(floats.data()[i] == 7);
    return text;
  };
  const std::string cut = "scratch must have been cut for the rows of x: ";
  CHECK(message(fewer, positions) ==
        cut + "scratch[Time=2, Hidden=24], expected[Time=4, Hidden=24]");
  auto mixed = fits;
  mixed.normed = fewer.normed;
  CHECK(message(mixed, positions) == cut + "scratch[Time=2, Model=16], expected[Time=4, Model=16]");
  mixed = fits;
  mixed.result = fewer.result;
  CHECK(message(mixed, positions) == cut + "scratch[Time=2, Model=16], expected[Time=4, Model=16]");
  CHECK(message(fits, slice<Time>(positions, 0, 3)) ==
        "block.into(x, ...): there must be one position for each row of x: "
        "[rows of x=4, positions=3]");
  block.ffn.up = {};
  CHECK(message(fits, positions) ==
        "linear: the layer has no weights yet: weight[Hidden=0, Model=0]");
  block = small(16);
  Random random(17);
  auto turned = normal(random, Model<>(16), Time<>(4));
  const auto before = turned;
  CHECK(error_of([&] { block.into(transpose(turned), positions, {&segment, 1}, fits); }) ==
        "the elements along the last axis must lie next to each other: x[Time=4, Model=16], "
        "strides[Time=1, Model=4]");
  CHECK(elements(turned) == elements(before));

  // And the same scratch serves a call that fits, rows of any spacing.
  auto wide = zeros<float>(Time<>(4), Model<>(20));
  const auto part = slice<Model>(wide, 2, 16);
  for (index_t i = 0; i < x.count(); ++i) part(i / 16, i % 16) = x(i / 16, i % 16);
  block.into(part, positions, {&segment, 1}, fits);
  CHECK(different_bits(elements(part), elements(block(x))) == "");
}
