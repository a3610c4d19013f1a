#include "imbrex/model/kv_cache.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"

using namespace imbrex;

namespace {

Config config() {
  Config c;
  c.dims = {
      .layers = 3, .vocab = 10, .model = 8, .heads = 4, .kv_heads = 2, .head_dim = 5, .hidden = 7};
  return c;
}

template <class E, class Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("cache: sizes and bytes") {
  const KvCache cache(config(), 6);
  CHECK(cache.length() == 0);
  CHECK(cache.capacity() == 6);
  CHECK(cache.room() == 6);
  CHECK(cache.layers() == 3);
  CHECK(cache.kv_heads() == 2);
  CHECK(cache.head_dim() == 5);
  CHECK(cache.bytes() == 2 * 3 * 2 * 6 * 5 * 4);
  // SmolLM2 135M: 30 layers of 3 heads of 64 numbers, keys and values, 4 bytes: 45 KiB a position.
  CHECK(KvCache(presets::smollm2_135m, 2).bytes() == 2 * 46080);
}

TEST_CASE("cache: every layer, head and position has memory of its own, and it begins as zeros") {
  KvCache cache(config(), 4);
  float next = 1;
  for (index_t layer = 0; layer < 3; ++layer) {
    for (const auto& view : {cache.keys(layer, 4), cache.values(layer, 4)}) {
      for (index_t h = 0; h < 2; ++h) {
        for (index_t j = 0; j < 4; ++j) {
          for (index_t i = 0; i < 5; ++i) {
            CHECK(view(h, j, i) == 0);
            view(h, j, i) = next++;
          }
        }
      }
    }
  }
  // They are still all there, and views of fewer positions see the same ones.
  next = 1;
  for (index_t layer = 0; layer < 3; ++layer) {
    for (const index_t which : {0, 1}) {
      const auto all = which == 0 ? cache.keys(layer, 4) : cache.values(layer, 4);
      const auto some = which == 0 ? cache.keys(layer, 2) : cache.values(layer, 2);
      CHECK(some.size(1) == 2);
      for (index_t h = 0; h < 2; ++h) {
        for (index_t j = 0; j < 4; ++j) {
          for (index_t i = 0; i < 5; ++i) {
            CHECK(all(h, j, i) == next++);
            if (j < 2) CHECK(&some(h, j, i) == &all(h, j, i));
          }
        }
      }
    }
  }
  CHECK(next == static_cast<float>(cache.bytes() / 4 + 1));
}

TEST_CASE("cache: views of layers and positions that there are not are errors") {
  KvCache cache(config(), 4);
  const KvCache& seen = cache;
  constexpr index_t most = (std::numeric_limits<index_t>::max)();
  for (const index_t layer : {index_t{-1}, index_t{3}, most}) {
    const std::string said = "cache: expected a layer below 3, got " + std::to_string(layer);
    CHECK(complaint<ShapeError>([&] { cache.keys(layer, 1); }) == said);
    CHECK(complaint<ShapeError>([&] { cache.values(layer, 1); }) == said);
    CHECK(complaint<ShapeError>([&] { seen.keys(layer, 1); }) == said);
    CHECK(complaint<ShapeError>([&] { seen.values(layer, 1); }) == said);
  }
  for (const index_t count : {index_t{-1}, index_t{5}, most}) {
    const std::string said = "cache: expected 0 to 4 positions, got " + std::to_string(count);
    CHECK(complaint<CapacityError>([&] { cache.keys(2, count); }) == said);
    CHECK(complaint<CapacityError>([&] { cache.values(2, count); }) == said);
    CHECK(complaint<CapacityError>([&] { seen.keys(2, count); }) == said);
    CHECK(complaint<CapacityError>([&] { seen.values(2, count); }) == said);
  }
  CHECK(cache.keys(2, 0).count() == 0);
}

TEST_CASE("cache: a const one can be looked at, and not changed") {
  KvCache cache(config(), 4);
  const KvCache& seen = cache;
  cache.keys(1, 3)(1, 2, 4) = 5;
  cache.values(1, 3)(0, 0, 0) = 6;
  CHECK(seen.keys(1, 3)(1, 2, 4) == 5);
  CHECK(seen.values(1, 3)(0, 0, 0) == 6);
  static_assert(
      std::is_same_v<decltype(seen.keys(0, 1)), View<const float, KvHeads<>, Keys<>, HeadDim<>>>);
}

TEST_CASE("cache: append, truncate, clear") {
  KvCache cache(config(), 6);
  cache.append(4);
  CHECK(cache.length() == 4);
  CHECK(cache.room() == 2);
  cache.append(0);
  cache.append(2);
  CHECK(cache.room() == 0);
  CHECK(complaint<CapacityError>([&] { cache.append(1); }) ==
        "append: expected 0 to 0 positions, got 1");
  CHECK(complaint<CapacityError>([&] { cache.append(-1); }) ==
        "append: expected 0 to 0 positions, got -1");
  CHECK(cache.length() == 6);
  cache.truncate(6);
  cache.truncate(3);
  CHECK(complaint<CapacityError>([&] { cache.truncate(4); }) ==
        "truncate: expected a length from 0 to 3, got 4");
  CHECK(complaint<CapacityError>([&] { cache.truncate(-1); }) ==
        "truncate: expected a length from 0 to 3, got -1");
  CHECK(complaint<CapacityError>([&] {
          cache.append((std::numeric_limits<index_t>::max)());
        }).starts_with("append: expected 0 to 3 positions"));
  CHECK(cache.length() == 3);
  cache.clear();
  CHECK(cache.length() == 0);
  CHECK(cache.capacity() == 6);
}

TEST_CASE("cache: capacities that cannot be") {
  constexpr index_t most = (std::numeric_limits<index_t>::max)();
  CHECK(complaint<ShapeError>([] { KvCache(config(), -1); }) ==
        "cache: expected a capacity of 0 or more, got -1");
  CHECK(complaint<CapacityError>([] { KvCache(config(), most); }) ==
        "cache: the bytes of 9223372036854775807 positions cannot be counted");
  CHECK(complaint<CapacityError>([] { KvCache(config(), most / 60); }) != "nothing");
  CHECK_THROWS_AS(KvCache(config(), most / 4096), CapacityError);
  CHECK(KvCache(config(), 0).bytes() == 0);
  Config unknown = config();
  unknown.dims.kv_heads = dyn;
  CHECK(complaint<ConfigError>([&] { KvCache(unknown, 4); }) ==
        "kv_heads = dynamic: expected a size");
}

TEST_CASE("cache: what it holds goes along when it is moved") {
  KvCache cache(config(), 6);
  cache.append(2);
  cache.keys(1, 2)(0, 1, 0) = 9;
  KvCache moved = std::move(cache);
  CHECK(moved.length() == 2);
  CHECK(moved.keys(1, 2)(0, 1, 0) == 9);
  static_assert(!std::is_copy_constructible_v<KvCache>);
}

TEST_CASE("cache: numbers in 16 bits are half the bytes, as the ledger counts them") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    const KvCache cache(config(), 6, dtype);
    CHECK(cache.dtype() == dtype);
    CHECK(cache.bytes() == 2 * 3 * 2 * 6 * 5 * (dtype == Dtype::f32 ? 4 : 2));
    CHECK(KvCache(presets::smollm2_135m, 7, dtype).bytes() ==
          kv_cache_bytes(presets::smollm2_135m, {.tokens = 7, .dtype = dtype}));
  }
  for (const Dtype dtype : {Dtype::q8_0, Dtype::q4_0, Dtype::q6_k}) {
    CHECK(complaint<ConfigError>([&] { KvCache(config(), 6, dtype); }) ==
          std::string("cache = ") + name(dtype) + ": expected F32, F16 or BF16");
  }
}

TEST_CASE("cache: what is written is rounded to nearest, ties to even, and nothing else changes") {
  // 1 + 2^-11 and 1 + 2^-8 are half way between two halves, and two bfloats; 65520 is half way to
  // what would be the next half.
  const float written[] = {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 65520};
  const float halves[] = {1, 1 + 0x1p-9f, 1 + 0x1p-8f, 1 + 3 * 0x1p-8f,
                          std::numeric_limits<float>::infinity()};
  const float bfloats[] = {1, 1, 1, 1 + 0x1p-6f, 65536};
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    KvCache cache(config(), 4, dtype);
    cache.cached_values(1, 4).write(1, 2, written);
    const float* want = dtype == Dtype::f32 ? written : dtype == Dtype::f16 ? halves : bfloats;
    for (index_t layer = 0; layer < 3; ++layer) {
      for (const CachedHeads& heads :
           {cache.cached_keys(layer, 4), cache.cached_values(layer, 4)}) {
        for (index_t at = 0; at < 2 * 4 * 5; ++at) {
          const index_t h = at / 20, j = at / 5 % 4, i = at % 5;
          if (heads(h, j, i) == 0) continue;
          CHECK(layer == 1);
          CHECK(h == 1);
          CHECK(j == 2);
        }
      }
    }
    const CachedHeads seen = cache.cached_values(1, 3);
    CHECK(seen.size(0) == 2);
    CHECK(seen.size(1) == 3);
    CHECK(seen.size(2) == 5);
    for (index_t i = 0; i < 5; ++i) CHECK(seen(1, 2, i) == want[i]);
  }
}

TEST_CASE("cache: numbers in 16 bits are no floats to look at; layers and positions are checked") {
  KvCache cache(config(), 6, Dtype::bf16);
  const KvCache& seen = cache;
  const std::string said = "cache = BF16: expected F32, to be seen as floats";
  CHECK(complaint<ConfigError>([&] { cache.keys(0, 1); }) == said);
  CHECK(complaint<ConfigError>([&] { seen.values(0, 1); }) == said);
  CHECK(complaint<ShapeError>([&] { cache.cached_keys(3, 1); }) ==
        "cache: expected a layer below 3, got 3");
  CHECK(complaint<CapacityError>([&] { cache.cached_values(0, 7); }) ==
        "cache: expected 0 to 6 positions, got 7");
  const KvCache moved = std::move(cache);
  CHECK(moved.dtype() == Dtype::bf16);
}
