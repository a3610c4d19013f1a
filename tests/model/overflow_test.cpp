// Numbers that leave their range on the way: where they show, and that they do not stay.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/model/tiny_model.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

constexpr token_t poison = 0;  // a token whose embedding is not finite

/// Heads of `head_dim` numbers, a window of `window` keys (0: none).
Config small_config(index_t head_dim, index_t window) {
  Config config;
  config.dims = {.layers = 2,
                 .vocab = 30,
                 .model = 64,
                 .heads = 4,
                 .kv_heads = 2,
                 .head_dim = head_dim,
                 .hidden = 32};
  config.window = window;
  return config;
}

/// Weights in F32; infinities and NaN in the row of `poison` of the embedding.
DecoderWeights weights_of(const Config& config) {
  DecoderWeights weights = RandomWeights(config, {Dtype::f32}, 11).make();
  const auto& table = weights.embedding;
  Buffer<float> numbers(table.rows() * table.cols());
  std::memcpy(numbers.data(), table.data(), static_cast<std::size_t>(table.bytes()));
  for (index_t i = 0; i < table.cols(); ++i) {
    numbers.data()[poison * table.cols() + i] = i % 2 == 0
                                                    ? std::numeric_limits<float>::infinity()
                                                    : std::numeric_limits<float>::quiet_NaN();
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
  weights.embedding = {table.out(), table.in(),    Dtype::f32,
                       bytes,       table.bytes(), Owner::of(std::move(numbers))};
  return weights;
}

Tokens sound_tokens(index_t count, std::uint64_t seed) {
  Tokens tokens = random_tokens(count, 29, seed);
  for (token_t& token : tokens) token += 1;
  return tokens;
}

bool all_finite(const std::vector<float>& logits) {
  return std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

TEST_CASE("overflow: a cache that had NaN and is cut back gives the bits of a new one") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    for (const index_t head_dim : {6, 64}) {
      for (const index_t window : {0, 3}) {
        const Config config = small_config(head_dim, window);
        const Decoder<> decoder(config, weights_of(config));
        for (const Dtype format : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
          for (const auto& [before, after] : {std::pair{0, 1}, {1, 20}, {7, 1}, {130, 150}}) {
            CAPTURE(name(isa));
            CAPTURE(name(format));
            CAPTURE(head_dim);
            CAPTURE(window);
            CAPTURE(before);
            Workspace workspace(decoder, 64);
            KvCache used(config, 300, format), fresh(config, 300, format);
            const Tokens first = sound_tokens(before, 1), then = sound_tokens(after, 2);
            for (KvCache* cache : {&used, &fresh}) {
              if (before > 0) decoder.last_logits(workspace, *cache, first);
            }
            const std::vector<float> wrong =
                numbers(decoder.last_logits(workspace, used, Tokens(170, poison)));
            CHECK_FALSE(all_finite(wrong));
            used.truncate(before);
            const std::vector<float> got = numbers(decoder.all_logits(workspace, used, then));
            const std::vector<float> want = numbers(decoder.all_logits(workspace, fresh, then));
            CHECK(all_finite(want));
            CHECK(different_bits(got, want) == "");
          }
        }
      }
    }
  }
}

// A half's largest number is 65504; from 65520 on the nearest is infinity. bf16 has f32's
// exponents.
TEST_CASE(
    "overflow: numbers beyond a half come back as NaN from a cache in f16, and from no other") {
  const Config config = small_config(16, 0);
  DecoderWeights weights = weights_of(config);
  // Normed numbers are about 1, and values about as large as these weights.
  std::fill(weights.blocks[0].attention_norm.begin(), weights.blocks[0].attention_norm.end(), 1e6f);
  const Decoder<> decoder(config, weights);
  for (const Dtype format : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    CAPTURE(name(format));
    Workspace workspace(decoder, 64);
    KvCache cache(config, 8, format);
    const std::vector<float> logits =
        numbers(decoder.last_logits(workspace, cache, sound_tokens(5, 3)));
    CHECK(all_finite(logits) == (format != Dtype::f16));
  }
}
