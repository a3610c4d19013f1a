#include "imbrex/layers/attention.hpp"

#include <doctest/doctest.h>

#include "tests/layers/oracle.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using Layer = Attention<Model<>, Heads<>, KvHeads<>, HeadDim<>>;
using Chunk = Tensor<float, Time<>, Model<>>;

Layer make(index_t model, index_t heads, index_t kv_heads, index_t width, std::uint64_t seed,
           bool biased = false) {
  Random random(seed);
  return random_attention(Model<>(model), Heads<>(heads), KvHeads<>(kv_heads), HeadDim<>(width),
                          random, biased);
}

Chunk activations(index_t time, index_t model, std::uint64_t seed) {
  Random random(seed);
  return normal(random, Time<>(time), Model<>(model));
}

// The rounding of an attention layer, n = Model or H d below 64, weights N(0, 1/n), x N(0, 1),
// T <= 20 keys. A projection sums n products of which the magnitudes sum to 0.64 sqrt(n) on
// average: its worst rounding is n u 0.64 sqrt(n) = 2e-5 on numbers about 1. Scores inherit that of
// q and k through d products scaled by 1/sqrt(d), weights that of scores, the output that of v and
// of its own projection: five such steps, each error about as large, so 1e-4; the errors measured
// are below 2e-6. A wrong formula is off by a tenth.
constexpr double allowed = 1e-4, wrong = 2e-2;

void check_against_oracle(const Layer& layer, const Chunk& x) {
  CHECK(worst_difference(elements(layer(x)), oracle::attention(layer, oracle::Table(x)).floats(),
                         allowed) == "");
}

bool differs_from_oracle(const Layer& layer, const Chunk& x, const Layer& other) {
  return worst_difference(elements(layer(x)), oracle::attention(other, oracle::Table(x)).floats(),
                          wrong) != "";
}

/// layer(x), the rows fed in chunks of these sizes, each seeing the keys of those before.
std::vector<float> in_chunks(const Layer& layer, const Chunk& x, std::vector<index_t> sizes) {
  const index_t kv_heads = layer.k.weight().sizes()[0], width = layer.k.weight().sizes()[1];
  Cache cache(kv_heads, x.size(0), width);
  Chunk y(x.shape());
  index_t start = 0;
  for (const index_t rows : sizes) {
    Tensor<index_t, Time<>> positions{Time<>(rows)};
    for (index_t t = 0; t < rows; ++t) positions(t) = start + t;
    const Scratched<Layer> memory(layer, rows);
    const Segment segment = cache.segment(0, rows, start);
    layer.into(slice<Time>(y, start, rows), slice<Time>(x, start, rows), positions, {&segment, 1},
               memory.scratch);
    start += rows;
  }
  return elements(y);
}

/// The part of a norm over all heads that belongs to the first head, as a norm of each head.
template <class A>
RMSNorm<HeadDim<>> first_head_of(const RMSNorm<A>& norm) {
  Tensor<float, HeadDim<>> weight{HeadDim<>(norm.weight().size(1))};
  for (index_t i = 0; i < weight.count(); ++i) weight(i) = norm.weight().data()[i];
  return RMSNorm<HeadDim<>>(std::move(weight));
}

}  // namespace

TEST_CASE("attention: static and dynamic sizes, the same bits and the type of x") {
  Random random(1);
  const auto fixed = random_attention(Model<12>(), Heads<4>(), KvHeads<2>(), HeadDim<6>(), random);
  Layer loaded;
  loaded.q = Linear<Model<>, Axes<Heads<>, HeadDim<>>>(
      Weight<Axes<Heads<>, HeadDim<>>, Axes<Model<>>>(fixed.q.weight()));
  loaded.k = Linear<Model<>, Axes<KvHeads<>, HeadDim<>>>(
      Weight<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>>(fixed.k.weight()));
  loaded.v = Linear<Model<>, Axes<KvHeads<>, HeadDim<>>>(
      Weight<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>>(fixed.v.weight()));
  loaded.out = Linear<Axes<Heads<>, HeadDim<>>, Model<>>(
      Weight<Axes<Model<>>, Axes<Heads<>, HeadDim<>>>(fixed.out.weight()));
  loaded.rope.emplace(fixed.rope->frequencies());
  const auto x = normal(random, Batch<>(2), Time<>(9), Model<12>());
  const auto y = fixed(x);
  static_assert(std::is_same_v<decltype(y), const Tensor<float, Batch<>, Time<>, Model<12>>>);
  const View<const float, Batch<>, Time<>, Model<>> dynamic = x;
  CHECK(different_bits(elements(y), elements(loaded(dynamic))) == "");
}

TEST_CASE("attention: query head h reads key head h / (H/K)") {
  // All scores are 0, so the weights are even; the values of key head k are k everywhere, and
  // output h is the first element of head h.
  const index_t cases[][2] = {{9, 3}, {15, 5}, {28, 4}, {14, 2}, {32, 32}, {8, 1}, {48, 2}};
  for (const auto& [h, k] : cases) {
    CAPTURE(h);
    CAPTURE(k);
    Layer layer;
    layer.q =
        Linear<Model<>, Axes<Heads<>, HeadDim<>>>(Weight<Axes<Heads<>, HeadDim<>>, Axes<Model<>>>(
            zeros<float>(Heads<>(h), HeadDim<>(2), Model<>(h))));
    layer.k = Linear<Model<>, Axes<KvHeads<>, HeadDim<>>>(
        Weight<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>>(
            zeros<float>(KvHeads<>(k), HeadDim<>(2), Model<>(h))));
    Tensor<float, KvHeads<>, HeadDim<>> own_number{KvHeads<>(k), HeadDim<>(2)};
    for (index_t i = 0; i < 2 * k; ++i) own_number.data()[i] = static_cast<float>(i / 2);
    layer.v = Linear<Model<>, Axes<KvHeads<>, HeadDim<>>>(layer.k.weight(), own_number);
    auto pick = zeros<float>(Model<>(h), Heads<>(h), HeadDim<>(2));
    for (index_t i = 0; i < h; ++i) pick(i, i, 0) = 1;
    layer.out = Linear<Axes<Heads<>, HeadDim<>>, Model<>>(
        Weight<Axes<Model<>>, Axes<Heads<>, HeadDim<>>>(std::move(pick)));
    const auto y = layer(activations(4, h, 1));
    for (index_t t = 0; t < 4; ++t) {
      for (index_t i = 0; i < h; ++i) {
        const double want = static_cast<double>(i / (h / k));
        CHECK(std::abs(static_cast<double>(y(t, i)) - want) <= 8 * unit_roundoff * want);
      }
    }
  }
}

TEST_CASE("attention agrees with plain loops: MHA, GQA, MQA, and H d other than Model") {
  check_against_oracle(make(16, 4, 4, 4, 1), activations(11, 16, 2));
  check_against_oracle(make(16, 4, 2, 4, 3), activations(11, 16, 4));
  check_against_oracle(make(16, 4, 1, 4, 5), activations(11, 16, 6));
  check_against_oracle(make(6, 3, 1, 10, 7), activations(20, 6, 8));   // H d = 30
  check_against_oracle(make(40, 2, 2, 4, 9), activations(1, 40, 10));  // H d = 8
  check_against_oracle(make(16, 4, 2, 4, 11, true), activations(11, 16, 12));
  CHECK(differs_from_oracle(make(16, 4, 2, 4, 3), activations(11, 16, 4), make(16, 4, 2, 4, 4)));
}

TEST_CASE("attention: norms of queries and keys come before the turning") {
  Random random(1);
  const auto x = activations(11, 16, 2);
  for (const RopePairs pairs : {RopePairs::interleaved, RopePairs::half}) {
    Layer layer = make(16, 4, 2, 6, 3);
    layer.rope.emplace(rope_frequencies(10000, 6), pairs);
    layer.q_norm.emplace(norm_weight(random, HeadDim<>(6)));
    layer.k_norm.emplace(norm_weight(random, HeadDim<>(6)));
    check_against_oracle(layer, x);
    const auto other = oracle::attention(layer, oracle::Table(x), oracle::Order::rope_then_norm);
    CHECK(worst_difference(elements(layer(x)), other.floats(), wrong) != "");
  }
}

TEST_CASE("attention: norms over all heads at once are not those of each head") {
  Random random(4);
  const auto x = activations(11, 16, 5);
  Layer full = make(16, 4, 2, 6, 6);
  full.q_norm_full.emplace(norm_weight(random, Heads<>(4), HeadDim<>(6)));
  full.k_norm_full.emplace(norm_weight(random, KvHeads<>(2), HeadDim<>(6)));
  check_against_oracle(full, x);
  Layer each = make(16, 4, 2, 6, 6);
  each.q_norm = first_head_of(*full.q_norm_full);
  each.k_norm = first_head_of(*full.k_norm_full);
  CHECK(differs_from_oracle(full, x, each));
}

TEST_CASE("attention: a window of W shows min(i + 1, W) keys") {
  const auto x = activations(11, 16, 1);
  Layer layer = make(16, 4, 4, 4, 2);
  for (const index_t window : {1, 2, 3, 10, 11, 16}) {
    CAPTURE(window);
    layer.mask = Mask::window(window);
    check_against_oracle(layer, x);
    CHECK(worst_difference(in_chunks(layer, x, {4, 1, 1, 5}), elements(layer(x)), allowed) == "");
  }
  layer.mask = Mask::window(1);  // a row sees itself alone: the value, with weight 1
  const auto values = layer.v(x);
  Tensor<float, Time<>, Heads<>, HeadDim<>> seen{Time<>(11), Heads<>(4), HeadDim<>(4)};
  for (index_t i = 0; i < seen.count(); ++i) seen.data()[i] = values.data()[i];
  CHECK(different_bits(elements(layer(x)), elements(layer.out(seen))) == "");
  layer.mask = Mask::window(2);
  Layer off_by_one = make(16, 4, 4, 4, 2);
  off_by_one.mask = Mask::window(3);
  CHECK(differs_from_oracle(layer, x, off_by_one));
}

TEST_CASE("attention: the cap comes after the scale and before the mask; other scales; no mask") {
  const auto x = activations(11, 16, 3);
  Layer layer = make(16, 4, 2, 4, 4);
  layer.soft_cap = 0.5f;
  check_against_oracle(layer, x);
  layer.scale = 3;
  check_against_oracle(layer, x);
  layer.soft_cap = 0;
  layer.scale = 1.0f / 12;
  check_against_oracle(layer, x);
  layer.mask = Mask::none();
  check_against_oracle(layer, x);
  layer.rope.reset();
  check_against_oracle(layer, x);
  const Layer uncapped = make(16, 4, 2, 4, 4);
  Layer capped = make(16, 4, 2, 4, 4);
  capped.soft_cap = 0.5f;
  CHECK(differs_from_oracle(uncapped, x, capped));
}

TEST_CASE("attention: sequences of a batch do not see each other, to the bit") {
  const Layer layer = make(16, 4, 2, 4, 1);
  Random random(2);
  const auto both = normal(random, Batch<>(2), Time<>(7), Model<>(16));
  const auto y = layer(both);
  for (index_t b = 0; b < 2; ++b) {
    const auto alone = layer(slice<Batch>(both, b, 1));
    CHECK(different_bits(elements(alone), elements(slice<Batch>(y, b, 1))) == "");
  }
  CHECK(layer(zeros<float>(Batch<>(2), Time<>(0), Model<>(16))).count() == 0);
  CHECK(layer(zeros<float>(Batch<>(0), Time<>(3), Model<>(16))).count() == 0);
}

TEST_CASE("attention: a prompt at once, in chunks and token by token") {
  const auto x = activations(12, 16, 1);
  Layer layer = make(16, 4, 2, 4, 2);
  const auto at_once = elements(layer(x));
  CHECK(different_bits(in_chunks(layer, x, {12}), at_once) == "");
  CHECK(worst_difference(in_chunks(layer, x, {5, 7}), at_once, allowed) == "");
  CHECK(worst_difference(in_chunks(layer, x, {6, 1, 1, 4}), at_once, allowed) == "");
  CHECK(worst_difference(in_chunks(layer, x, std::vector<index_t>(12, 1)), at_once, allowed) == "");
}

TEST_CASE("attention: sequences of different lengths and pasts go through one pass") {
  const Layer layer = make(16, 4, 2, 4, 3);
  const auto a = activations(7, 16, 4), b = activations(3, 16, 5);
  const auto want_a = elements(layer(a)), want_b = elements(layer(b));
  Cache cache_a(2, 7, 4), cache_b(2, 3, 4);

  // First four rows of a alone; then the last three of a behind all of b.
  const Scratched<Layer> memory(layer, 6);
  Chunk y4{Time<>(4), Model<>(16)}, y6{Time<>(6), Model<>(16)}, x6{Time<>(6), Model<>(16)};
  const Scratched<Layer> memory4(layer, 4);
  const Segment first = cache_a.segment(0, 4, 0);
  const Tensor<index_t, Time<>> positions4(Shape<Time<>>(Time<>(4)), {0, 1, 2, 3});
  layer.into(y4, slice<Time>(a, 0, 4), positions4, {&first, 1}, memory4.scratch);
  for (index_t i = 0; i < 48; ++i) {
    x6.data()[i] = b.data()[i];
    x6.data()[48 + i] = a.data()[64 + i];
  }
  const Segment segments[] = {cache_b.segment(0, 3, 0), cache_a.segment(3, 3, 4)};
  const Tensor<index_t, Time<>> positions6(Shape<Time<>>(Time<>(6)), {0, 1, 2, 4, 5, 6});
  layer.into(y6, x6, positions6, segments, memory.scratch);
  CHECK(worst_difference(elements(slice<Time>(y6, 0, 3)), want_b, allowed) == "");
  const auto all_of_a = layer(a);
  CHECK(worst_difference(elements(slice<Time>(y6, 3, 3)), elements(slice<Time>(all_of_a, 4, 3)),
                         allowed) == "");
}

TEST_CASE("attention: a bad call is a ShapeError, and y, keys and values are as before") {
  const Layer layer = make(16, 4, 2, 4, 6);
  const auto x = activations(4, 16, 7);
  const Scratched<Layer> memory(layer, 4);
  Chunk y = full(7.0f, Time<>(4), Model<>(16));
  Cache cache(2, 8, 4);
  for (auto* t : {&cache.keys, &cache.values})
    *t = full(7.0f, KvHeads<>(2), Keys<>(8), HeadDim<>(4));
  const Tensor<index_t, Time<>> positions(Shape<Time<>>(Time<>(4)), {0, 1, 2, 3});
  const Tensor<index_t, Time<>> fewer(Shape<Time<>>(Time<>(3)), {0, 1, 2});
  const auto message = [&](const std::vector<Segment>& segments, const Chunk& from,
                           const Tensor<index_t, Time<>>& at) {
    const std::string text = error_of([&] { layer.into(y, from, at, segments, memory.scratch); });
    for (const auto& values : {elements(y), elements(cache.keys), elements(cache.values)}) {
      for (const float value : values) CHECK(value == 7);
    }
    return text;
  };
  const std::string follow =
      "attention: segments follow each other, with start + rows keys and values each: ";
  CHECK(message({cache.segment(1, 3, 0)}, x, positions) ==
        follow + "segment[first=1, rows=3, start=0, Keys of keys=3, Keys of values=3]");
  Segment short_keys = cache.segment(0, 4, 2);
  short_keys.keys = slice<Keys>(cache.keys, 0, 5);
  CHECK(message({short_keys}, x, positions) ==
        follow + "segment[first=0, rows=4, start=2, Keys of keys=5, Keys of values=6]");
  CHECK(message({cache.segment(0, 2, 0), cache.segment(1, 2, 2)}, x, positions) ==
        follow + "segment[first=1, rows=2, start=2, Keys of keys=4, Keys of values=4]");
  CHECK(message({cache.segment(0, 3, 0)}, x, positions) ==
        "attention: every row must belong to a segment: [rows of x=4, rows of segments=3]");
  CHECK(message({}, x, positions) ==
        "attention: every row must belong to a segment: [rows of x=4, rows of segments=0]");
  Cache other(3, 8, 4);
  CHECK(message({other.segment(0, 4, 0)}, x, positions) ==
        "blk.0.attn_k: attention: keys and values must have the heads of the layer, each in a row: "
        "cached[KvHeads=3, Keys=4, HeadDim=4], k[KvHeads=2, HeadDim=4, Model=16]");
  Segment turned = cache.segment(0, 4, 0);
  const index_t sizes[] = {2, 4, 4}, strides[] = {16, 1, 4};
  turned.values = CachedHeads::Floats{
      cache.values.data(), Shape<KvHeads<>, Keys<>, HeadDim<>>::from_sizes(sizes), strides};
  CHECK(message({turned}, x, positions) != "nothing thrown");
  CHECK(message({cache.segment(0, 4, 0)}, x, fewer) ==
        "attention.into(y, x): y, positions and scratch must have the rows of x: "
        "[rows of x=4, rows of y=4, positions=3, rows of scratch=4]");
  CHECK(message({cache.segment(0, 3, 0)}, activations(3, 16, 1), fewer) !=
        "nothing thrown");  // y has four rows
  CHECK(message({cache.segment(0, 4, 0)}, activations(4, 15, 1), positions) != "nothing thrown");
}

TEST_CASE("attention: projections that do not fit each other") {
  const auto x = activations(3, 16, 1);
  Layer layer = make(16, 9, 2, 4, 8);
  CHECK(error_of([&] { layer(x); }) ==
        "blk.0.attn_k: attention: the number of KvHeads must divide that of Heads: "
        "q[Heads=9, HeadDim=4, Model=16], k[KvHeads=2, HeadDim=4, Model=16]");
  layer = make(16, 4, 2, 4, 8);
  layer.v = make(16, 4, 1, 4, 8).v;
  const std::string fit =
      "attention: the projections must have the same heads, HeadDim and Model: ";
  CHECK(error_of([&] { layer(x); }) ==
        "blk.0.attn_v: " + fit +
            "q[Heads=4, HeadDim=4, Model=16], v[KvHeads=1, HeadDim=4, Model=16]");
  layer = make(16, 4, 2, 4, 8);
  layer.out = make(16, 2, 2, 8, 8).out;  // as many numbers, other heads
  CHECK(error_of([&] { layer(x); }) ==
        "blk.0.attn_output: " + fit +
            "q[Heads=4, HeadDim=4, Model=16], out[Model=16, Heads=2, HeadDim=8]");
  CHECK(error_of([&] { make(16, 4, 2, 4, 8)(activations(3, 15, 1)); }) ==
        "blk.0.attn_q: attention(x): x must end with the axes Time and the model's: "
        "x[Time=3, Model=15], q[Heads=4, HeadDim=4, Model=16]");
  CHECK(error_of([&] { Layer()(x); }) != "nothing thrown");
  CHECK(error_of([&] {
          Attention<Model<16>, Heads<4>, KvHeads<2>, HeadDim<4>>()(
              zeros<float>(Time<>(3), Model<16>()));
        }) != "nothing thrown");
}

TEST_CASE("attention.into: strides that cannot be obeyed are found before keys are stored") {
  const Layer layer = make(16, 4, 2, 4, 6);
  const auto x = activations(4, 16, 7);
  const Scratched<Layer> memory(layer, 4);
  Cache cache(2, 4, 4);
  const Segment segment = cache.segment(0, 4, 0);
  const Tensor<index_t, Time<>> positions(Shape<Time<>>(Time<>(4)), {0, 1, 2, 3});
  const auto untouched = [&] {
    for (const float key : elements(cache.keys)) CHECK(key == 0);
  };
  Tensor<float, Model<>, Time<>> turned{Model<>(16), Time<>(4)};
  const auto y = transpose(turned);
  CHECK(error_of([&] { layer.into(y, x, positions, {&segment, 1}, memory.scratch); }) ==
        "blk.0.attn_output: into(y, x): y must lie in evenly spaced rows: y[Time=4, Model=16], "
        "strides[Time=1, Model=4]");
  untouched();
  const Tensor<index_t, Time<>> twice(Shape<Time<>>(Time<>(8)), {0, 0, 1, 0, 2, 0, 3, 0});
  const index_t two = 2;
  const View<const index_t, Time<>> apart(twice.data(), Shape<Time<>>(Time<>(4)), &two);
  Chunk rows{Time<>(4), Model<>(16)};
  CHECK(error_of([&] { layer.into(rows, x, apart, {&segment, 1}, memory.scratch); }) ==
        "positions must lie next to each other: positions[Time=4], strides[Time=2]");
  untouched();
  const Scratched<Layer> other(make(16, 4, 2, 5, 6), 4);
  CHECK(error_of([&] { layer.into(rows, x, positions, {&segment, 1}, other.scratch); }) ==
        "scratch must have been cut for the rows of x: scratch[Time=4, Heads=4, HeadDim=5], "
        "expected[Time=4, Heads=4, HeadDim=4]");
  untouched();
  // x may lie anyhow: it is copied first.
  auto columns = zeros<float>(Model<>(16), Time<>(4));
  for (index_t i = 0; i < x.count(); ++i) columns(i % 16, i / 16) = x(i / 16, i % 16);
  layer.into(rows, transpose(columns), positions, {&segment, 1}, memory.scratch);
  CHECK(different_bits(elements(rows), elements(layer(x))) == "");
}
