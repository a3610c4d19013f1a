// What layers allocate, and how much memory attention needs beside its operands.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "examples/painted_stack.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

/// Calls that allocate while `run` runs a second time. (At its first run the threads start.)
template <class Run>
std::int64_t allocations_of(const Run& run) {
  run();
  start_counting();
  run();
  return allocations.calls;
}

}  // namespace

TEST_CASE("memory: the counter counts") {
  REQUIRE(counts_allocations);
  start_counting();
  {
    const auto x = zeros<float>(Model<>(1000));
  }
  CHECK(allocations.calls == 1);
  CHECK(allocations.peak >= 4000);
  CHECK(allocations.live == 0);
}

TEST_CASE("memory: into-forms allocate nothing, on any thread") {
  Random random(1);
  constexpr index_t time = 40;
  const auto block =
      random_block(Model<>(64), Heads<>(8), KvHeads<>(2), HeadDim<>(16), Hidden<>(96), random);
  const auto x = normal(random, Time<>(time), Model<>(64));
  auto y = x, stream = x;
  auto hidden = zeros<float>(Time<>(time), Hidden<>(96));
  using Tile = std::remove_const_t<decltype(block)>;
  const Scratched<Tile> memory(block, time);
  Cache cache(2, time, 16);
  Tensor<index_t, Time<>> positions{Time<>(time)};
  for (index_t t = 0; t < time; ++t) positions(t) = t;
  const Segment segment = cache.segment(0, time, 0);
  const LayerNorm<Model<>> layer_norm(norm_weight(random, Model<>(64)),
                                      norm_weight(random, Model<>(64)));
  FFN<Model<>, Hidden<>> ffn;
  const Shape<Hidden<>> f(Hidden<>(96));
  const Shape<Model<>> m(Model<>(64));
  ffn.up = with_bias(random_linear<Model<>, Hidden<>>(f, m, random), random);
  ffn.down = with_bias(random_linear<Hidden<>, Model<>>(m, f, random), random);
  const Scratched<FFN<Model<>, Hidden<>>> ffn_memory(ffn, time);
  const Embedding<Vocab<>, Model<>> embedding(random_weight<Axes<Vocab<>>, Axes<Model<>>>(
      Shape<Vocab<>>(Vocab<>(9)), Shape<Model<>>(Model<>(64)), random));
  const auto ids = zeros<token_t>(Time<>(time));

  for (const int n : {1, 3}) {
    set_threads(n);
    CAPTURE(n);
    CHECK(allocations_of([&] { block.ffn.gate.into(hidden, x); }) == 0);
    CHECK(allocations_of([&] { block.attention_norm->into(y, x); }) == 0);
    CHECK(allocations_of([&] { layer_norm.into(y, x); }) == 0);
    CHECK(allocations_of([&] { embedding.into(y, ids); }) == 0);
    CHECK(allocations_of([&] { ffn.into(y, x, ffn_memory.scratch); }) == 0);
    CHECK(allocations_of([&] { block.ffn.into(y, x, memory.scratch.ffn); }) == 0);
    CHECK(allocations_of([&] {
            block.attention.into(y, x, positions, {&segment, 1}, memory.scratch.attention);
          }) == 0);
    CHECK(allocations_of([&] { block.into(stream, positions, {&segment, 1}, memory.scratch); }) ==
          0);
  }
  set_threads(0);
}

TEST_CASE("memory: beside its operands attention needs as much for 8192 positions as for 512") {
  Random random(2);
  const auto attention =
      random_attention(Model<>(8), Heads<>(2), KvHeads<>(1), HeadDim<>(8), random);
  set_threads(1);  // so that all work, and all stack, is the painted thread's
  std::vector<std::size_t> stacks;
  for (const index_t time : {512, 2048, 8192}) {
    const auto x = normal(random, Time<>(time), Model<>(8));
    auto y = x;
    const Scratched<std::remove_const_t<decltype(attention)>> memory(attention, time);
    Cache cache(1, time, 8);
    Tensor<index_t, Time<>> positions{Time<>(time)};
    for (index_t t = 0; t < time; ++t) positions(t) = t;
    const Segment segment = cache.segment(0, time, 0);
    const auto run = [&] { attention.into(y, x, positions, {&segment, 1}, memory.scratch); };
    if (time == 512) run();  // symbols are bound at the first call, and that takes stack as well
    start_counting();
    run();
    CHECK(allocations.peak == 0);
    stacks.push_back(examples::stack_bytes(run));
  }
  set_threads(0);
  MESSAGE("attention, T = 512, 2048, 8192: 0 bytes of heap; stack "
          << stacks[0] << ", " << stacks[1] << ", " << stacks[2]);
  // Which of the innermost functions ran, and how much of its frame it wrote, is a few bytes; what
  // a sanitizer calls takes stack of its own.
  constexpr std::size_t own = 1024;
  const auto [least, most] = std::minmax_element(stacks.begin(), stacks.end());
  CHECK(*most - *least <= own);
  CHECK(*most < std::size_t{512} * 512 * sizeof(float));  // no T x T, for the smallest T
}
