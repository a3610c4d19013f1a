// What a pass allocates, on any thread: nothing. malloc itself is counted.
#include <doctest/doctest.h>

#include <new>

#include "imbrex/model/decoder.hpp"
#include "tests/model/tiny_model.hpp"
#include "tests/support/allocations.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

template <class Call>
std::int64_t counted(const Call& call) {
  start_counting();
  call();
  return allocations.calls;
}

/// Wide enough that matrices are cut into several pieces for threads.
Config wide_config() {
  Config config;
  config.dims = {.layers = 2,
                 .vocab = 500,
                 .model = 256,
                 .heads = 8,
                 .kv_heads = 2,
                 .head_dim = 64,
                 .hidden = 768};
  return config;
}

}  // namespace

TEST_CASE("the counter counts, on every thread") {
  REQUIRE(counts_allocations);
  CHECK(counted([] {}) == 0);
  CHECK(counted([] { ::operator delete(::operator new(8)); }) == 1);
  CHECK(counted([] { Buffer<float> buffer(100); }) == 1);
  const WithThreads set(4);
  const auto allocate = [] {
    parallel_for(8, [](index_t i) {
      std::vector<index_t> v{i};
      CHECK(v.data() != nullptr);
    });
  };
  allocate();
  CHECK(counted(allocate) >= 8);
}

TEST_CASE("a decoding step allocates nothing on any thread, alone and in a batch") {
  const Config config = wide_config();
  const Decoder<> decoder(config,
                          RandomWeights(config, {Dtype::q8_0, Dtype::f32, Dtype::bf16}, 1).make());
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    const WithThreads set(threads);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{3}, std::size_t{6}}) {
      CAPTURE(batch);
      Workspace workspace(decoder, 16, static_cast<index_t>(batch));
      std::vector<KvCache> caches;
      std::vector<SequenceInput> inputs;
      const Tokens tokens = random_tokens(static_cast<index_t>(batch), 500, 2);
      for (std::size_t i = 0; i < batch; ++i) {
        caches.emplace_back(config, 32);
        decoder.last_logits(workspace, caches[i],
                            random_tokens(static_cast<index_t>(5 + i), 500, i));
      }
      for (std::size_t i = 0; i < batch; ++i) inputs.push_back({{&tokens[i], 1}, &caches[i]});
      const auto step = [&] { decoder.last_logits(workspace, inputs); };
      step();  // OpenMP makes its team at the first loop
      for (int i = 0; i < 5; ++i) CHECK(counted(step) == 0);
      CHECK(caches[0].length() == 11);
    }
  }
}

TEST_CASE("prompts allocate nothing, either, except for logits that were not foreseen") {
  const Config config = wide_config();
  const Decoder<> decoder(config, RandomWeights(config, {Dtype::q8_0, Dtype::f32}, 1).make());
  const Tokens tokens = random_tokens(100, 500, 3);
  for (const int threads : {1, 2, 8}) {
    CAPTURE(threads);
    const WithThreads set(threads);
    Workspace workspace(decoder, 16, 100), small(decoder, 16);
    KvCache cache(config, 100);
    decoder.last_logits(workspace, cache, tokens);
    cache.clear();
    CHECK(counted([&] { decoder.last_logits(workspace, cache, tokens); }) == 0);
    cache.clear();
    CHECK(counted([&] { decoder.all_logits(workspace, cache, tokens); }) == 0);
    cache.clear();
    CHECK(counted([&] { decoder.all_logits(small, cache, tokens); }) == 1);
  }
}

TEST_CASE("a workspace does not know how long prompts are") {
  const Config config = wide_config();
  const Decoder<> decoder(config, RandomWeights(config, {Dtype::q8_0}, 1).make());
  Workspace workspace(decoder, 64);
  const index_t before = workspace.bytes();
  for (const index_t time : {64, 256, 512}) {
    KvCache cache(config, time);
    decoder.last_logits(workspace, cache, random_tokens(time, 500, 1));
    CHECK(workspace.bytes() == before);
  }
}
