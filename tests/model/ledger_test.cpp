#include "imbrex/model/ledger.hpp"

#include <doctest/doctest.h>

#include <string>

#include "imbrex/model/presets.hpp"

using namespace imbrex;

namespace {

constexpr index_t kib = 1024, gib = 1024 * 1024 * 1024;

// Small enough to count by hand.
constexpr Config tiny{.dims = {.layers = 2,
                               .vocab = 10,
                               .model = 8,
                               .heads = 4,
                               .kv_heads = 2,
                               .head_dim = 6,
                               .hidden = 5},
                      .context = 7};

constexpr Config every_bias{.dims = tiny.dims,
                            .context = 7,
                            .qkv_bias = true,
                            .output_bias = true,
                            .ffn_bias = true,
                            .norm_bias = true,
                            .norm = NormKind::layer_norm,
                            .norm_placement = NormPlacement::both,
                            .qk_norm = QkNorm::full,
                            .feed_forward = FeedForwardKind::plain,
                            .positions = Positions::learned};

/// Whether the parameters of `c` can be counted in a constant expression.
template <const Config& c>
concept countable =
    requires { typename std::integral_constant<index_t, count_parameters(c).total>; };

constexpr Config dynamic{};
constexpr Config dynamic_vocab{.dims = {2, dyn, 8, 4, 2, 6, 5}};
constexpr index_t huge = index_t{1} << 40;
constexpr Config overflowing{.dims = {2, huge, huge, 4, 2, 6, 5}};

template <class Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// Models of other shapes than Llama's, whose published counts try the remaining terms.
constexpr Config gpt2{.dims = {12, 50257, 768, 12, 12, 64, 3072},
                      .context = 1024,
                      .tie_embeddings = true,
                      .qkv_bias = true,
                      .output_bias = true,
                      .ffn_bias = true,
                      .norm_bias = true,
                      .norm = NormKind::layer_norm,
                      .activation = Activation::gelu_tanh,
                      .feed_forward = FeedForwardKind::plain,
                      .positions = Positions::learned};
constexpr Config gemma2_27b{.dims = {46, 256000, 4608, 32, 16, 128, 36864},
                            .tie_embeddings = true,
                            .norm_placement = NormPlacement::both,
                            .window = 4096,
                            .global_layers = {2}};
constexpr Config gemma3_270m{.dims = {18, 262144, 640, 4, 1, 256, 2048},
                             .tie_embeddings = true,
                             .norm_placement = NormPlacement::both,
                             .qk_norm = QkNorm::per_head};
constexpr Config olmo2_32b{.dims = {64, 100352, 5120, 40, 8, 128, 27648},
                           .norm_placement = NormPlacement::post,
                           .qk_norm = QkNorm::full};
constexpr Config phi3_mini{.dims = {32, 32064, 3072, 32, 32, 96, 8192}};

}  // namespace

static_assert(countable<tiny>);
static_assert(!countable<dynamic>);
static_assert(!countable<dynamic_vocab>);
static_assert(!countable<overflowing>);

static_assert(count_parameters(gpt2).total == 124'439'808);
static_assert(count_parameters(gemma2_27b).total == 27'227'128'320);
static_assert(count_parameters(gemma3_270m).total == 268'098'176);
static_assert(count_parameters(olmo2_32b).total == 32'234'279'936);
static_assert(count_parameters(phi3_mini).total == 3'821'079'552);

TEST_CASE("count_parameters: by hand") {
  const ParameterCount p = count_parameters(tiny);
  CHECK(p.layer.query == 192);         // 8 x 24
  CHECK(p.layer.key == 96);            // 8 x 12
  CHECK(p.layer.value == 96);          // 8 x 12
  CHECK(p.layer.output == 192);        // 24 x 8
  CHECK(p.layer.feed_forward == 120);  // 3 x 8 x 5
  CHECK(p.layer.norms == 16);          // 2 x 8
  CHECK(p.layer.attention_biases == 0);
  CHECK(p.layer.qk_norm == 0);
  CHECK(p.layer.feed_forward_biases == 0);
  CHECK(p.layer.total == 712);
  CHECK(p.embedding == 80);  // 10 x 8
  CHECK(p.positions == 0);
  CHECK(p.attention == 1152);    // 2 x 576
  CHECK(p.feed_forward == 240);  // 2 x 120
  CHECK(p.norms == 40);          // 2 x 16 + 8
  CHECK(p.head == 80);
  CHECK(p.total == 1592);  // 80 + 1152 + 240 + 40 + 80
}

TEST_CASE("count_parameters: every option, by hand") {
  const ParameterCount p = count_parameters(every_bias);
  CHECK(p.layer.attention_biases == 56);     // 24 + 12 + 12, and 8
  CHECK(p.layer.qk_norm == 36);              // 24 + 12
  CHECK(p.layer.feed_forward == 80);         // 2 x 8 x 5
  CHECK(p.layer.feed_forward_biases == 13);  // 5 + 8
  CHECK(p.layer.norms == 64);                // 4 x (8 + 8)
  CHECK(p.layer.total == 576 + 56 + 36 + 80 + 13 + 64);
  CHECK(p.positions == 56);  // 7 x 8
  CHECK(p.norms == 144);     // 2 x 64 + 16
  CHECK(p.total == 80 + 56 + 2 * p.layer.total + 16 + 80);

  Config gated = every_bias;
  gated.feed_forward = FeedForwardKind::gated;
  CHECK(count_parameters(gated).layer.feed_forward_biases == 18);  // 5 + 5 + 8

  Config per_head = tiny;
  per_head.qk_norm = QkNorm::per_head;
  CHECK(count_parameters(per_head).layer.qk_norm == 12);  // 6 + 6

  Config tied = tiny;
  tied.tie_embeddings = true;
  CHECK(count_parameters(tied).head == 0);
  CHECK(count_parameters(tied).total == 1512);
}

TEST_CASE("count_parameters: Llama 2 7B by part") {
  const ParameterCount p = count_parameters(presets::llama2_7b);
  CHECK(p.embedding == 131'072'000);       // 32000 x 4096
  CHECK(p.attention == 2'147'483'648);     // 32 x 4 x 4096^2 = 2^31
  CHECK(p.feed_forward == 4'328'521'728);  // 32 x 3 x 4096 x 11008
  CHECK(p.norms == 266'240);               // 65 x 4096
  CHECK(p.head == 131'072'000);
  CHECK(p.layer.total == 202'383'360);
  CHECK(p.total == 6'738'415'616);
}

// The total is that of the checkpoint; it holds only with these biases, and none for the output.
TEST_CASE("count_parameters: Qwen2.5 0.5B has biases for queries, keys and values") {
  const ParameterCount p = count_parameters(presets::qwen2_5_0_5b);
  CHECK(24 * p.layer.attention_biases == 27'648);  // 24 x (896 + 2 x 128)
  CHECK(p.total == 494'032'768);
}

TEST_CASE("count_parameters: the parts add up for every preset") {
  for (const presets::Preset& preset : presets::all) {
    CAPTURE(preset.name);
    const ParameterCount p = count_parameters(preset.config);
    CHECK(p.total == p.embedding + p.positions + p.attention + p.feed_forward + p.norms + p.head);
    CHECK(p.total - p.embedding - p.positions - p.head ==
          preset.config.dims.layers * p.layer.total + preset.config.dims.model);
  }
}

TEST_CASE("ledger: no number for sizes unknown or too large") {
  CHECK(complaint([] { (void)count_parameters(dynamic); }) == "layers = dynamic: expected a size");
  CHECK(complaint([] { (void)count_parameters(dynamic_vocab); }) ==
        "vocab = dynamic: expected a size");
  const std::string too_large =
      "count = more than 9223372036854775807: expected sizes whose counts fit 64 bits";
  CHECK(complaint([] { (void)count_parameters(overflowing); }) == too_large);
  // 2^62 parameters fit, their bytes do not: of the weights, or of training.
  const Config large{.dims = {1, index_t{1} << 61, 2, 1, 1, 2, 1}, .tie_embeddings = true};
  CHECK(complaint([&] { (void)count_parameters(large); }) == "");
  CHECK(complaint([&] { (void)weight_bytes(large, Dtype::f32, Dtype::f32); }) == too_large);
  CHECK(complaint([&] { (void)training_bytes(large); }) == too_large);
  CHECK(complaint([] {
          (void)kv_cache_bytes(presets::llama2_7b, {.tokens = huge, .batch = huge});
        }) == too_large);
}

TEST_CASE("weight_bytes: 16 bits, and quantised blocks") {
  CHECK(weight_bytes(presets::llama2_7b, Dtype::f16, Dtype::f16) == 13'476'831'232);
  CHECK(weight_bytes(tiny, Dtype::f32, Dtype::f32) == 4 * 1592);
  CHECK(weight_bytes(every_bias, Dtype::bf16, Dtype::bf16) ==
        2 * count_parameters(every_bias).total);
  // Matrices in 16 bits, the 40 elements of norms in 32: 2 x 1592 + 2 x 40.
  CHECK(weight_bytes(tiny, Dtype::f16, Dtype::f32) == 3264);
  // Q8_0: 34 bytes for 32 numbers. SmolLM2 135M has 134,515,008 - 61 x 576 of them in matrices.
  static_assert((134'515'008 - 61 * 576) % 32 == 0);
  CHECK(weight_bytes(presets::smollm2_135m, Dtype::q8_0, Dtype::f32) ==
        (134'515'008 - 61 * 576) / 32 * 34 + 61 * 576 * 4);
  // Rows of 576 are not whole blocks of 256.
  CHECK(complaint([] { (void)weight_bytes(presets::smollm2_135m, Dtype::q4_k, Dtype::f32); }) ==
        "dtype = Q4_K: expected one whose blocks of 256 divide a row of 576");
  CHECK(complaint([] { (void)weight_bytes(tiny, Dtype::f16, Dtype::q8_0); }) ==
        "dtype = Q8_0: expected one whose blocks of 32 divide a row of 1");
}

TEST_CASE("kv_cache_bytes: Llama 2 7B, and what GQA saves") {
  CHECK(kv_cache_bytes(presets::llama2_7b, {}) == 512 * kib);
  CHECK(kv_cache_bytes(presets::llama2_7b, {.tokens = 4096}) == 2 * gib);
  CHECK(kv_cache_bytes(presets::llama2_7b, {.tokens = 4096, .batch = 16}) == 32 * gib);
  CHECK(kv_cache_bytes(presets::llama2_7b, {.tokens = 4096, .dtype = Dtype::f32}) == 4 * gib);
  CHECK(kv_cache_bytes(presets::llama2_70b, {}) == 320 * kib);  // 80 layers, 8 of 64 heads
  CHECK(kv_cache_bytes(presets::llama3_8b, {}) == 128 * kib);
  CHECK(kv_cache_bytes(presets::llama2_7b, {.tokens = 0}) == 0);
  // Q8_0: 34 bytes for 32 numbers.
  CHECK(kv_cache_bytes(presets::llama2_7b, {.dtype = Dtype::q8_0}) == 272 * kib);
  CHECK(complaint([] { (void)kv_cache_bytes(tiny, {.dtype = Dtype::q8_0}); }) ==
        "dtype = Q8_0: expected one whose blocks of 32 divide a row of 6");
  CHECK(complaint([] { (void)kv_cache_bytes(tiny, {.tokens = -5}); }) ==
        "tokens = -5: expected 0 or more");
}

TEST_CASE("workspace_bytes: by hand") {
  // A row is 4 x 8 + 2 x 24 + 2 x 12 + 2 x 5 floats, a row of logits 10.
  CHECK(workspace_bytes(tiny, {.rows = 3, .logit_rows = 2}) == 4 * (3 * 114 + 2 * 10));
  CHECK(workspace_bytes(tiny, {.rows = 0, .logit_rows = 0}) == 0);
  CHECK(complaint([] { (void)workspace_bytes(tiny, {.rows = -1}); }) ==
        "rows = -1: expected 0 or more");
  CHECK(complaint([] { (void)workspace_bytes(dynamic, {}); }) != "");
  CHECK(complaint([] { (void)workspace_bytes(tiny, {.rows = index_t{1} << 60}); }) != "");
}

TEST_CASE("activation_bytes: by hand") {
  // Two layers of 4 x 8 + 2 x 24 + 2 x 12 + 3 x 5, then 2 x 8 + 10: 264 numbers a token.
  CHECK(activation_bytes(tiny, {}) == 528);
  CHECK(activation_bytes(tiny, {.tokens = 3, .batch = 2, .dtype = Dtype::f32}) == 6 * 4 * 264);
  // Norms on both sides, of q and k too, and no gate: 6 x 8 + 3 x 36 + 2 x 5.
  CHECK(activation_bytes(every_bias, {}) == 2 * (2 * 166 + 2 * 8 + 10));
  // Llama 2 7B, a layer and token: 8 x 4096 + 3 x 11008 = 65792, in 16 bits 131,584 bytes.
  // (Standard layers, with a feed-forward width of 4 D, need 34 D = 139,264: Korthikanti et al.
  // 2022, table 2.)
  CHECK(activation_bytes(presets::llama2_7b, {}) == 2 * (32 * 65'792 + 2 * 4096 + 32'000));
  CHECK(complaint([] { (void)activation_bytes(tiny, {.dtype = Dtype::q8_0}); }) ==
        "dtype = Q8_0: expected one whose blocks of 32 divide a row of 1");
  CHECK(complaint([] { (void)activation_bytes(tiny, {.batch = -1}); }) ==
        "batch = -1: expected 0 or more");
  CHECK(complaint([] {
          (void)activation_bytes(tiny, {.tokens = huge, .batch = huge});
        }).find("count = more than") == 0);
}

TEST_CASE("training_bytes: 16 a parameter") {
  const TrainingBytes t = training_bytes(presets::llama2_7b);
  CHECK(t.weights == 13'476'831'232);
  CHECK(t.gradients == 13'476'831'232);
  CHECK(t.optimiser == 80'860'987'392);
  CHECK(t.total == 107'814'649'856);
}

TEST_CASE("forward_flops: by hand") {
  // One token that sees only itself: 2 x 576 x 2 layers, 4 x 24 x 1 key x 2 layers, 2 x 120 x 2,
  // 2 x 80.
  const Flops f = forward_flops(tiny, {});
  CHECK(f.projections == 2304);
  CHECK(f.attention == 192);
  CHECK(f.feed_forward == 480);
  CHECK(f.head == 160);
  CHECK(f.total == 3136);
  // Three tokens after two see 3 + 4 + 5 keys.
  CHECK(forward_flops(tiny, {.tokens = 3, .cached = 2}).attention == 12 * 192);
  CHECK(forward_flops(tiny, {.tokens = 3, .cached = 2}).projections == 3 * 2304);
  CHECK(forward_flops(tiny, {.tokens = 3, .logits = 3}).head == 3 * 160);
  CHECK(forward_flops(tiny, {.tokens = 3, .logits = 0}).head == 0);
  CHECK(complaint([] { (void)forward_flops(tiny, {.tokens = 3, .logits = 4}); }) ==
        "logits = 4: expected 0 to tokens = 3");
  CHECK(complaint([] { (void)forward_flops(tiny, {.tokens = 0}); }) ==
        "tokens = 0: expected 1 or more");
}

TEST_CASE("forward_flops: a window, as a sum over tokens and layers") {
  Config config = tiny;
  config.dims.layers = 5;
  config.global_layers = {2};
  for (index_t width = 0; width < 8; ++width) {
    config.window = width;
    for (index_t cached = 0; cached < 8; ++cached) {
      index_t keys = 0;
      for (index_t layer = 0; layer < 5; ++layer) {
        for (index_t t = cached; t < cached + 4; ++t) {
          const index_t limit = window(config, layer);
          keys += limit == 0 ? t + 1 : lesser(t + 1, limit);
        }
      }
      CAPTURE(width);
      CAPTURE(cached);
      CHECK(forward_flops(config, {.tokens = 4, .cached = cached}).attention ==
            static_cast<double>(4 * 24 * keys));
    }
  }
}

TEST_CASE("forward_flops: attention's share of a prompt of Llama 2 7B") {
  // 4 H d L T (T + 1) / 2 of it, besides 2 L T (4 D^2 + 3 D F), and one row of logits.
  const auto share = [](index_t tokens) {
    const Flops f = forward_flops(presets::llama2_7b, {.tokens = tokens});
    return f.attention / f.total;
  };
  CHECK(share(2048) == doctest::Approx(0.0398).epsilon(0.01));
  CHECK(share(131'072) == doctest::Approx(0.726).epsilon(0.01));
}

TEST_CASE("forward_flops: a prompt at once is the sum of its tokens") {
  double sum = 0;
  for (index_t t = 0; t < 64; ++t) {
    sum += forward_flops(presets::llama2_7b, {.cached = t}).total;
  }
  CHECK(forward_flops(presets::llama2_7b, {.tokens = 64, .logits = 64}).total == sum);
  // Twice the weights that are multiplied: all but the embedding and the norms; 524,288 a key.
  CHECK(forward_flops(presets::llama2_7b, {.cached = 99}).total ==
        2.0 * (6'738'415'616 - 131'072'000 - 266'240) + 100 * 524'288.0);
}
