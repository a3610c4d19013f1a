// What a decoder computes: against the goldens, against plain loops in double precision, with sizes
// known to the compiler and without, and as its observer sees it.
#include "imbrex/model/decoder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tests/model/plain_decoder.hpp"
#include "tests/model/tiny_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

const char* const tiny_models[] = {"f32", "mixed", "kquant", "wide"};

Decoder<> tiny(const std::string& name) { return load(tiny_path(name + ".gguf")); }

std::vector<double> flat(const tests::Rows& rows) {
  std::vector<double> all;
  for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// A small model of which every size is another one, and H d is not D.
Config odd_config() {
  Config config;
  config.dims = {.layers = 3,
                 .vocab = 50,
                 .model = 96,
                 .heads = 6,
                 .kv_heads = 2,
                 .head_dim = 32,
                 .hidden = 64};
  config.norm_eps = 1e-5;
  return config;
}

/// Puts what a cache in 16 bits stores in the place of keys or values. Each must be the nearest of
/// its format to the plain one: within half a unit in its last place (binary16 of IEEE 754 has 11
/// significant bits and exponents from -14, bfloat16 8 and from -126), and as much as two ways of
/// computing it may differ by, relative to the root mean square of its row.
void as_stored(Rows& x, const CachedHeads& stored, double tolerance) {
  const bool half = stored.dtype() == Dtype::f16;
  int wrong = 0;
  for (std::size_t t = 0; t < x.size(); ++t) {
    double squares = 0;
    for (const double y : x[t]) squares += y * y;
    const double apart = tolerance * std::sqrt(squares / static_cast<double>(x[t].size()));
    for (std::size_t i = 0; i < x[t].size(); ++i) {
      const index_t at = static_cast<index_t>(i), d = stored.size(2);
      double& y = x[t][i];
      const int exponent = (std::max)(std::ilogb(y), half ? -14 : -126);
      const double unit = std::ldexp(1, exponent - (half ? 10 : 7));
      const double number = double{stored(at / d, static_cast<index_t>(t), at % d)};
      if (!(std::abs(number - y) <= unit / 2 + apart)) ++wrong;
      y = number;
    }
  }
  CHECK(wrong == 0);
}

const std::vector<Dtype> mixed_formats = {Dtype::f32, Dtype::q8_0, Dtype::bf16, Dtype::q4_1,
                                          Dtype::f16};

}  // namespace

// The tolerance is that of two ways of computing in float; the golden is exact up to its own
// rounding to float, so this could be half of it.
TEST_CASE("decoder: the goldens, after every token") {
  for (const char* name : tiny_models) {
    CAPTURE(name);
    const Decoder<> decoder = tiny(name);
    const TinyGolden golden = tiny_golden(name);
    REQUIRE(decoder.config().dims.vocab == golden.vocab);
    CHECK(worst_row(logits_of(decoder, golden.tokens), golden.logits, golden.vocab,
                    logits_tolerance(decoder.config().dims)) == "");
  }
}

TEST_CASE("decoder: what the goldens are of") {
  CHECK(tiny("f32").config().tie_embeddings);
  CHECK_FALSE(tiny("mixed").config().tie_embeddings);
  CHECK(tiny("f32").config().dims == f32_dims);
  CHECK(tiny("mixed").config().dims == mixed_dims);
  CHECK(tiny("kquant").config().dims == kquant_dims);
  CHECK(tiny("kquant").config().rope.stored_factors);
  const Decoder<> wide = tiny("wide");
  CHECK(wide.config().dims == wide_dims);
  CHECK(wide.config().rope.scaling == RopeScaling{.kind = RopeScalingKind::linear, .factor = 4});
  CHECK(wide.config().dims.heads * wide.config().dims.head_dim != wide.config().dims.model);
  CHECK(wide.config().norm_eps == doctest::Approx(1e-3));
  CHECK(tiny("mixed").block(0).attention.q.weight().dtype() == Dtype::q8_0);
  const Decoder<> kquant = tiny("kquant");
  CHECK(kquant.head().weight().dtype() == Dtype::q6_k);
  CHECK(kquant.head().weight().data() == kquant.embedding().table().data());
}

TEST_CASE("the plain decoder of these tests gives the goldens, too") {
  for (const char* name : tiny_models) {
    CAPTURE(name);
    const GgufFile file = GgufFile::open(tiny_path(std::string(name) + ".gguf"));
    const Config config = config_from_gguf(file);
    const DecoderWeights weights = read_gguf_weights(file, config);
    const TinyGolden golden = tiny_golden(name);
    std::vector<float> got;
    for (const double x : flat(PlainDecoder(config, weights)(golden.tokens))) {
      got.push_back(static_cast<float>(x));
    }
    // Both in double: what is left is theta and eps, which a file has in float, and the rounding of
    // the golden to float.
    CHECK(worst_row(got, golden.logits, golden.vocab, 4 * unit_roundoff) == "");
  }
}

TEST_CASE("decoder: every option of a configuration, against the plain decoder") {
  struct Case {
    const char* name;
    void (*change)(Config&);
  };
  const Case cases[] = {
      {"as it is", [](Config&) {}},
      {"tied", [](Config& c) { c.tie_embeddings = true; }},
      {"one key head", [](Config& c) { c.dims.kv_heads = 1; }},
      {"as many key heads", [](Config& c) { c.dims.kv_heads = 6; }},
      {"biases", [](Config& c) { c.qkv_bias = c.output_bias = c.ffn_bias = true; }},
      {"post-norm", [](Config& c) { c.norm_placement = NormPlacement::post; }},
      {"both norms, 1 + w",
       [](Config& c) {
         c.norm_placement = NormPlacement::both;
         c.norm_weight_offset = 1;
       }},
      {"head norms", [](Config& c) { c.qk_norm = QkNorm::per_head; }},
      {"full norms", [](Config& c) { c.qk_norm = QkNorm::full; }},
      {"halves, some dims",
       [](Config& c) { c.rope = {.pairs = RopePairs::half, .rotary_dims = 16}; }},
      {"some dims", [](Config& c) { c.rope = {.theta = 500, .rotary_dims = 6}; }},
      {"factors",
       [](Config& c) {
         c.rope.stored_factors = true;
         c.rope.scaling = {.kind = RopeScalingKind::linear, .factor = 2};
       }},
      {"a layer without positions", [](Config& c) { c.rope.skipped_layers = {2}; }},
      {"no positions", [](Config& c) { c.positions = Positions::none; }},
      {"window", [](Config& c) { c.window = 5; }},
      {"window, but for some",
       [](Config& c) {
         c.window = 3;
         c.global_layers = {2};
       }},
      {"caps and scales",
       [](Config& c) {
         c.attention_softcap = 3;
         c.logit_softcap = 2;
         c.attention_scale = 0.3;
         c.embedding_scale = 1.75;
       }},
  };
  const Tokens tokens = random_tokens(17, 50, 7);
  std::vector<std::vector<float>> seen;
  for (const Case& option : cases) {
    CAPTURE(option.name);
    Config config = odd_config();
    option.change(config);
    const DecoderWeights weights = RandomWeights(config, mixed_formats, 11).make();
    const Decoder<> decoder(config, weights);
    const std::vector<float> got = logits_of(decoder, tokens);
    CHECK(worst_row(got, flat(PlainDecoder(config, weights)(tokens)), config.dims.vocab,
                    logits_tolerance(config.dims)) == "");
    // No option is without effect, or the case would show nothing.
    for (const std::vector<float>& other : seen) CHECK(got != other);
    seen.push_back(got);
    // In parts, with the cache between.
    Workspace workspace(decoder, 4);
    KvCache cache(config, 17);
    std::vector<float> parts;
    for (const Tokens& part : {Tokens(tokens.begin(), tokens.begin() + 9),
                               Tokens(tokens.begin() + 9, tokens.begin() + 10),
                               Tokens(tokens.begin() + 10, tokens.end())}) {
      const std::vector<float> more = numbers(decoder.all_logits(workspace, cache, part));
      parts.insert(parts.end(), more.begin(), more.end());
    }
    CHECK(worst_row(parts, got, config.dims.vocab, logits_tolerance(config.dims)) == "");
  }
}

TEST_CASE("decoder: options by options, three sequences in a pass, against the plain decoder") {
  const std::vector<Tokens> prompts = {random_tokens(9, 50, 1), random_tokens(1, 50, 2),
                                       random_tokens(6, 50, 3)};
  for (const index_t kv_heads : {1, 2, 6}) {
    for (const index_t window : {0, 4}) {
      for (const QkNorm qk_norm : {QkNorm::none, QkNorm::per_head}) {
        for (const double cap : {0.0, 3.0}) {
          CAPTURE(kv_heads);
          CAPTURE(window);
          CAPTURE(static_cast<int>(qk_norm));
          CAPTURE(cap);
          Config config = odd_config();
          config.dims.layers = 2;
          config.dims.kv_heads = kv_heads;
          config.window = window;
          config.qk_norm = qk_norm;
          config.attention_softcap = cap;
          config.qkv_bias = window != 0;
          const DecoderWeights weights = RandomWeights(config, mixed_formats, 4).make();
          const Decoder<> decoder(config, weights);
          Workspace workspace(decoder, 5);
          std::vector<KvCache> caches;
          std::vector<SequenceInput> inputs;
          std::vector<double> expected;
          for (std::size_t i = 0; i < 3; ++i) caches.emplace_back(config, 9);
          for (std::size_t i = 0; i < 3; ++i) {
            inputs.push_back({prompts[i], &caches[i]});
            const std::vector<double> more = flat(PlainDecoder(config, weights)(prompts[i]));
            expected.insert(expected.end(), more.begin(), more.end());
          }
          CHECK(worst_row(numbers(decoder.all_logits(workspace, inputs)), expected,
                          config.dims.vocab, logits_tolerance(config.dims)) == "");
        }
      }
    }
  }
}

TEST_CASE("decoder: caches in 16 bits, groups of heads, windows and three sequences in a pass") {
  const std::vector<Tokens> prompts = {random_tokens(9, 50, 1), random_tokens(1, 50, 2),
                                       random_tokens(6, 50, 3)};
  for (const Dtype format : {Dtype::f16, Dtype::bf16}) {
    for (const index_t kv_heads : {1, 2, 6}) {
      for (const index_t window : {0, 4}) {
        CAPTURE(std::string(name(format)));
        CAPTURE(kv_heads);
        CAPTURE(window);
        Config config = odd_config();
        config.dims.layers = 2;
        config.dims.kv_heads = kv_heads;
        config.window = window;
        const double tolerance = logits_tolerance(config.dims);
        const DecoderWeights weights = RandomWeights(config, mixed_formats, 4).make();
        const Decoder<> decoder(config, weights);
        const auto plain = [&](const Tokens& tokens, KvCache& cache) {
          return flat(PlainDecoder(config, weights, [&](index_t layer, Rows& k, Rows& v) {
            as_stored(k, cache.cached_keys(layer, cache.length()), tolerance);
            as_stored(v, cache.cached_values(layer, cache.length()), tolerance);
          })(tokens));
        };
        Workspace workspace(decoder, 5);
        std::vector<KvCache> caches, slow, alone;
        for (auto* list : {&caches, &slow, &alone}) {
          for (std::size_t i = 0; i < 3; ++i) list->emplace_back(config, 9, format);
        }
        // All prompts at once, in chunks of 5 rows.
        std::vector<SequenceInput> inputs;
        for (std::size_t i = 0; i < 3; ++i) inputs.push_back({prompts[i], &caches[i]});
        const std::vector<float> got = numbers(decoder.all_logits(workspace, inputs));
        std::vector<double> expected;
        for (std::size_t i = 0; i < 3; ++i) {
          const std::vector<double> more = plain(prompts[i], caches[i]);
          expected.insert(expected.end(), more.begin(), more.end());
        }
        CHECK(worst_row(got, expected, config.dims.vocab, tolerance) == "");
        // A token of each at a time: the bits that it has alone, and the plain numbers.
        std::vector<std::vector<float>> rows(3);
        for (std::size_t t = 0; t < 9; ++t) {
          std::vector<SequenceInput> step;
          std::vector<float> each;
          for (std::size_t i = 0; i < 3; ++i) {
            if (t >= prompts[i].size()) continue;
            const std::span<const token_t> token(&prompts[i][t], 1);
            step.push_back({token, &slow[i]});
            const std::vector<float> row = numbers(decoder.all_logits(workspace, alone[i], token));
            each.insert(each.end(), row.begin(), row.end());
            rows[i].insert(rows[i].end(), row.begin(), row.end());
          }
          CHECK(different_bits(numbers(decoder.all_logits(workspace, step)), each) == "");
        }
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(worst_row(rows[i], plain(prompts[i], slow[i]), config.dims.vocab, tolerance) == "");
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("decoder: static and dynamic sizes give the same bits", Model,
                   std::integral_constant<int, 0>, std::integral_constant<int, 1>,
                   std::integral_constant<int, 2>, std::integral_constant<int, 3>) {
  constexpr Dims all[] = {f32_dims, mixed_dims, kquant_dims, wide_dims};
  constexpr Dims dims = all[Model::value];
  const std::string path = tiny_path(tiny_models[Model::value] + std::string(".gguf"));
  const Tokens tokens = tiny_golden(tiny_models[Model::value]).tokens;
  const std::vector<float> dynamic = logits_of(load(path), tokens, 7);
  const std::vector<float> fixed = logits_of(load<dims>(path), tokens, 7);
  CHECK(different_bits(fixed, dynamic) == "");
  constexpr Dims part{.model = dims.model, .head_dim = dims.head_dim};
  CHECK(different_bits(logits_of(load<part>(path), tokens, 7), dynamic) == "");
}

TEST_CASE("decoder: the types of a static decoder") {
  const Decoder<wide_dims> decoder = load<wide_dims>(tiny_path("wide.gguf"));
  Workspace workspace(decoder);
  KvCache cache(decoder.config(), 4);
  const Tokens tokens = {1, 2};
  static_assert(std::is_same_v<decltype(decoder.last_logits(workspace, cache, tokens)),
                               View<const float, Vocab<320>>>);
  static_assert(std::is_same_v<decltype(decoder.all_logits(workspace, cache, tokens)),
                               View<const float, Time<>, Vocab<320>>>);
  Tensor<token_t, Batch<3>, Time<>> ids{Batch<3>(), Time<>(2)};
  static_assert(
      std::is_same_v<decltype(decoder(ids)), Tensor<float, Batch<3>, Time<>, Vocab<320>>>);
  static_assert(!std::is_copy_constructible_v<Decoder<>> &&
                std::is_move_constructible_v<Decoder<>>);
  CHECK(decoder(ids).count() == 3 * 2 * 320);
}

// `accepts` asks of a decoder what it asks of a layer.
static_assert(accepts<Decoder<>, Tensor<token_t, Batch<3>, Time<>>>);
static_assert(accepts<Decoder<wide_dims>, View<const token_t, Time<>>>);
static_assert(!accepts<Decoder<>, Tensor<float, Time<>>>);
static_assert(!accepts<Decoder<>, Tensor<token_t, Time<>, Batch<3>>>);
static_assert(!accepts<Decoder<>, Tensor<token_t>>);
static_assert(!accepts<Decoder<>, Tensor<token_t, Vocab<>, Time<>>>);  // would have Vocab twice
static_assert(!accepts<Decoder<>, int>);

TEST_CASE("decoder: a block that there is not") {
  const Decoder<> decoder = tiny("f32");
  CHECK(complaint<ShapeError>([&] { decoder.block(2); }) == "block: expected 0 to 1, got 2");
  CHECK(complaint<ShapeError>([&] { decoder.block(-1); }) == "block: expected 0 to 1, got -1");
}

TEST_CASE("decoder: static sizes that are not the file's, each by name") {
  const std::string path = tiny_path("wide.gguf");
  const auto says = [](const std::string& field, int expected, int got) {
    const std::string e = std::to_string(expected), g = std::to_string(got);
    return "Decoder: the configuration must have the decoder's static sizes: decoder[" + field +
           "=" + e + "], config[" + field + "=" + g + "]";
  };
  CHECK(complaint<ShapeError>([&] { load<Dims{.layers = 3}>(path); }) == says("layers", 3, 2));
  CHECK(complaint<ShapeError>([&] { load<Dims{.vocab = 321}>(path); }) == says("vocab", 321, 320));
  CHECK(complaint<ShapeError>([&] { load<Dims{.model = 128}>(path); }) == says("model", 128, 96));
  CHECK(complaint<ShapeError>([&] { load<Dims{.heads = 8}>(path); }) == says("heads", 8, 4));
  CHECK(complaint<ShapeError>([&] { load<Dims{.kv_heads = 4}>(path); }) == says("kv_heads", 4, 1));
  CHECK(complaint<ShapeError>([&] { load<Dims{.head_dim = 24}>(path); }) ==
        says("head_dim", 24, 32));
  CHECK(complaint<ShapeError>([&] { load<Dims{.hidden = 161}>(path); }) ==
        says("hidden", 161, 160));
}

TEST_CASE("decoder: weights that are not the configuration's") {
  const Config config = odd_config();
  const auto with = [&](auto change) {
    DecoderWeights weights = RandomWeights(config, {Dtype::f32}, 3).make();
    change(weights);
    return complaint<ShapeError>([&] { Decoder<>(config, weights); });
  };
  CHECK(with([](DecoderWeights&) {}) == "nothing");
  CHECK(with([](DecoderWeights& w) { w.blocks.pop_back(); }) ==
        "Decoder: there must be weights for each block: config[blocks=3], weights[blocks=2]");
  CHECK(with([](DecoderWeights& w) {
          w.blocks[1].gate = {};
        }).starts_with("blk.1.ffn_gate: there is no such weight: expected[Hidden=64, Model=96]"));
  CHECK(with([](DecoderWeights& w) {
          w.blocks[2].k.operator=({});
        }).starts_with("blk.2.attn_k: there is no such weight"));
  CHECK(
      with([](DecoderWeights& w) { w.head = {}; }).starts_with("output: there is no such weight"));
  CHECK(with([](DecoderWeights& w) { w.norm.pop_back(); }) ==
        "output_norm: expected 96 numbers, got 95");
  CHECK(with([](DecoderWeights& w) { w.blocks[0].ffn_norm.clear(); }) ==
        "blk.0.ffn_norm: expected 96 numbers, got 0");
  // Six heads of 32 are not three of 64, although there are as many rows.
  Config other = config;
  other.dims.heads = 3;
  other.dims.kv_heads = 1;
  other.dims.head_dim = 64;
  const DecoderWeights weights = RandomWeights(config, {Dtype::f32}, 3).make();
  CHECK(complaint<ShapeError>([&] { Decoder<>(other, weights); }) ==
        "blk.0.attn_q: the weight has other sizes: expected[Heads=3, HeadDim=64, Model=96], "
        "got[Heads=6, HeadDim=32, Model=96]");
}

TEST_CASE("decoder: every part that the configuration has must be there, and no other") {
  // Each part of a model with all of them, and how to take it away.
  struct Part {
    const char* path;
    void (*drop)(DecoderWeights&);
    void (*give_up)(Config&);
    const char* numbers;  // how many there are
  };
  const Part parts[] = {
      {"blk.1.attn_q.bias", [](auto& w) { w.blocks[1].q_bias.clear(); },
       [](Config& c) { c.qkv_bias = false; }, "192"},
      {"blk.1.attn_k.bias", [](auto& w) { w.blocks[1].k_bias.clear(); },
       [](Config& c) { c.qkv_bias = false; }, "64"},
      {"blk.1.attn_v.bias", [](auto& w) { w.blocks[1].v_bias.clear(); },
       [](Config& c) { c.qkv_bias = false; }, "64"},
      {"blk.1.attn_output.bias", [](auto& w) { w.blocks[1].out_bias.clear(); },
       [](Config& c) { c.output_bias = false; }, "96"},
      {"blk.1.ffn_gate.bias", [](auto& w) { w.blocks[1].gate_bias.clear(); },
       [](Config& c) { c.ffn_bias = false; }, "64"},
      {"blk.1.ffn_up.bias", [](auto& w) { w.blocks[1].up_bias.clear(); },
       [](Config& c) { c.ffn_bias = false; }, "64"},
      {"blk.1.ffn_down.bias", [](auto& w) { w.blocks[1].down_bias.clear(); },
       [](Config& c) { c.ffn_bias = false; }, "96"},
      {"blk.1.post_attention_norm", [](auto& w) { w.blocks[1].attention_post_norm.clear(); },
       [](Config& c) { c.norm_placement = NormPlacement::pre; }, "96"},
      {"blk.1.attn_k_norm", [](auto& w) { w.blocks[1].k_norm.clear(); },
       [](Config& c) { c.qk_norm = QkNorm::none; }, "32"},
  };
  Config config = odd_config();
  config.qkv_bias = config.output_bias = config.ffn_bias = true;
  config.norm_placement = NormPlacement::both;
  config.qk_norm = QkNorm::per_head;
  const DecoderWeights all = RandomWeights(config, {Dtype::f32}, 3).make();
  CHECK(complaint([&] { Decoder<>(config, all); }) == "nothing");
  for (const Part& part : parts) {
    CAPTURE(part.path);
    DecoderWeights without = all;
    part.drop(without);
    CHECK(complaint<ShapeError>([&] { Decoder<>(config, without); }) ==
          std::string(part.path) + ": expected " + part.numbers + " numbers, got 0");
    // The other way round: in block 1 the part, in a configuration (and other blocks) without it.
    Config lesser = config;
    part.give_up(lesser);
    DecoderWeights with = RandomWeights(lesser, {Dtype::f32}, 3).make();
    CHECK(complaint([&] { Decoder<>(lesser, with); }) == "nothing");
    with.blocks[1] = all.blocks[1];
    const std::string said = complaint<ConfigError>([&] { Decoder<>(lesser, with); });
    CHECK(said.starts_with("blk.1."));
    CHECK(said.ends_with(" numbers: expected none: the configuration has no such part"));
  }

  config = odd_config();
  DecoderWeights weights = RandomWeights(config, {Dtype::f32}, 3).make();
  weights.blocks[2].up_bias.assign(64, 0);
  CHECK(complaint<ConfigError>([&] { Decoder<>(config, weights); }) ==
        "blk.2.ffn_up.bias = 64 numbers: expected none: the configuration has no such part");
  weights.blocks[2].up_bias.clear();
  weights.rope_factors.assign(16, 2);
  CHECK(complaint<ConfigError>([&] { Decoder<>(config, weights); }) ==
        "rope_freqs = 16 numbers: expected none: the configuration has no such part");
  config.rope.stored_factors = true;
  CHECK(complaint([&] { Decoder<>(config, weights); }) == "nothing");
  weights.rope_factors = {1, 2, 3};
  CHECK(complaint<ShapeError>([&] { Decoder<>(config, weights); }) ==
        "rope_freqs: one factor for each frequency: [frequencies=16, factors=3]");
  weights.rope_factors.clear();
  CHECK(complaint<ShapeError>([&] { Decoder<>(config, weights); }) ==
        "rope_freqs: one factor for each frequency: [frequencies=16, factors=0]");
  config.rope.stored_factors = false;
  config.tie_embeddings = true;
  CHECK(complaint<ConfigError>([&] { Decoder<>(config, weights); }) ==
        "output = [Vocab=50, Model=96]: expected none: embeddings are tied");
}

TEST_CASE("decoder: configurations that it is not made for") {
  const DecoderWeights weights = RandomWeights(odd_config(), {Dtype::f32}, 3).make();
  const auto with = [&](auto change) {
    Config config = odd_config();
    change(config);
    return complaint<ConfigError>([&] { Decoder<>(config, weights); });
  };
  CHECK(with([](Config& c) {
          c.norm = NormKind::layer_norm;
        }).starts_with("norm = layer_norm: expected rms_norm"));
  CHECK(with([](Config& c) {
          c.feed_forward = FeedForwardKind::plain;
        }).starts_with("feed_forward = plain: expected gated"));
  CHECK(with([](Config& c) {
          c.positions = Positions::learned;
        }).starts_with("positions = learned: expected rope or none"));
  CHECK(with([](Config& c) { c.dims.heads = 5; }) ==
        "heads = 5: expected a multiple of kv_heads = 2");
  CHECK(with([](Config& c) { c.dims.layers = dyn; }) == "layers = dynamic: expected a size");
}

TEST_CASE("observer: every step by name and shape, in order") {
  const Decoder<> decoder = tiny("wide");
  Workspace workspace(decoder);
  KvCache cache(decoder.config(), 8);
  const Tokens tokens = {5, 6, 7};
  std::vector<std::string> steps;
  const auto note = [&](const Step& step) { steps.push_back(step.shape_text()); };
  decoder.last_logits(workspace, cache, tokens, note);
  std::vector<std::string> expected = {"embedding[Time=3, Model=96]"};
  for (const std::string b : {"blk.0.", "blk.1."}) {
    for (const char* step :
         {"attn_norm[Time=3, Model=96]", "q[Time=3, Heads=4, HeadDim=32]",
          "k[Time=3, KvHeads=1, HeadDim=32]", "v[Time=3, KvHeads=1, HeadDim=32]",
          "q_turned[Time=3, Heads=4, HeadDim=32]", "k_turned[Time=3, KvHeads=1, HeadDim=32]",
          "attended[Time=3, Heads=4, HeadDim=32]", "attn_out[Time=3, Model=96]",
          "attn_residual[Time=3, Model=96]", "ffn_norm[Time=3, Model=96]",
          "ffn_gate[Time=3, Hidden=160]", "ffn_up[Time=3, Hidden=160]",
          "ffn_hidden[Time=3, Hidden=160]", "ffn_out[Time=3, Model=96]",
          "ffn_residual[Time=3, Model=96]"}) {
      expected.push_back(b + step);
    }
  }
  expected.push_back("norm[Time=1, Model=96]");
  expected.push_back("logits[Time=1, Vocab=320]");
  CHECK(steps == expected);

  // The same of a decoder that knows its sizes; all logits are of all rows.
  const Decoder<wide_dims> fixed = load<wide_dims>(tiny_path("wide.gguf"));
  cache.clear();
  steps.clear();
  fixed.all_logits(workspace, cache, tokens, note);
  expected[expected.size() - 2] = "norm[Time=3, Model=96]";
  expected[expected.size() - 1] = "logits[Time=3, Vocab=320]";
  CHECK(steps == expected);
}

TEST_CASE("observer: the residual stream is the embedding and what the layers add") {
  const Decoder<> decoder = tiny("mixed");
  const Tokens tokens = tiny_golden("mixed").tokens;
  Workspace workspace(decoder);
  KvCache cache(decoder.config(), 24);
  std::vector<double> sum, size;
  std::vector<float> last, normed, logits;
  int added = 0;
  const auto watch = [&](const Step& step) {
    const std::string name = step.name;
    const float* x = step.value.data;
    const index_t n = step.value.count(0, step.value.rank);
    if (name == "embedding") sum.assign(x, x + n), size.assign(sum.size(), 0);
    if (name == "attn_out" || name == "ffn_out") {
      ++added;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += double{x[i]};
        size[i] += std::abs(sum[i]);
      }
    }
    if (name == "ffn_residual") last.assign(x, x + n);
    if (name == "norm") normed.assign(x, x + n);
    if (name == "logits") logits.assign(x, x + n);
  };
  const std::vector<float> watched = numbers(decoder.all_logits(workspace, cache, tokens, watch));
  CHECK(added == 4);
  // A rounding each time something is added, of the sum so far.
  std::vector<float> expected;
  for (const double x : sum) expected.push_back(static_cast<float>(x));
  CHECK(worst_difference(
            last.data(), expected.data(), static_cast<index_t>(last.size()),
            [&](index_t i) { return 2 * unit_roundoff * size[std::size_t(i)] + 1e-30; }) == "");
  CHECK(logits == watched);
  CHECK(normed.size() == 24 * 64);
  // Watching changes nothing.
  CHECK(different_bits(watched, logits_of(decoder, tokens)) == "");
}

TEST_CASE("observer: one that throws leaves the cache as it was") {
  const Decoder<> decoder = tiny("f32");
  const Tokens tokens = {1, 2, 3, 4, 5};
  Workspace workspace(decoder, 2);
  KvCache cache(decoder.config(), 16), twin(decoder.config(), 16);
  decoder.last_logits(workspace, cache, tokens);
  decoder.last_logits(workspace, twin, tokens);
  int steps = 0;
  const auto stop = [&](const Step&) {
    if (++steps == 40) throw std::runtime_error("enough");
  };
  CHECK_THROWS_AS(decoder.last_logits(workspace, cache, tokens, stop), std::runtime_error);
  CHECK(cache.length() == 5);
  const Tokens next = {9, 8};
  const std::vector<float> after = numbers(decoder.all_logits(workspace, cache, next));
  CHECK(different_bits(after, numbers(decoder.all_logits(workspace, twin, next))) == "");
}

TEST_CASE("observer: one that meddles with the pass it watches is an error, and half of nothing") {
  const Decoder<> decoder = tiny("f32");
  const Tokens tokens = {1, 2, 3};
  Workspace workspace(decoder);
  KvCache first(decoder.config(), 4), second(decoder.config(), 4), other(decoder.config(), 4);
  const auto again = [&](const Step&) { decoder.last_logits(workspace, other, tokens); };
  CHECK_THROWS_AS(decoder.last_logits(workspace, first, tokens, again), ShapeError);
  CHECK(first.length() == 0);
  CHECK(other.length() == 0);
  const auto append = [&](const Step&) {
    if (second.length() == 0) second.append(3);  // leaves no room for the pass's own three
  };
  const SequenceInput inputs[] = {{tokens, &first}, {tokens, &second}};
  CHECK_THROWS_AS(decoder.last_logits(workspace, inputs, append), CapacityError);
  CHECK(first.length() == 0);
  second.clear();
  decoder.last_logits(workspace, inputs);  // and the workspace is free again
  CHECK(second.length() == 3);
}
