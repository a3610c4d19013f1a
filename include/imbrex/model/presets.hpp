// Published decoders by name: the sizes and constants of the vendors' base checkpoints. RoPE's
// pairs are those of the same models as GGUF files. Every total is checked to the last digit by a
// static_assert in tests/model/presets_test.cpp.
//
// A GGUF file of the model says two things in another way, so its configuration is not equal to the
// preset, while it computes the same:
// - Llama 3.1's scaling of RoPE stands there as a table, rope_freqs.weight: rope.stored_factors,
// and
//   no rope.scaling.
// - Gemma's norms have the 1 added to their weights: norm_weight_offset is 0.
#pragma once

#include <string_view>

#include "imbrex/model/config.hpp"

namespace imbrex::presets::inline IMBREX_ABI {

/// The constants that the models of a family share.
namespace family {

constexpr Config llama1(const Dims& dims, double eps) {
  return {.dims = dims, .context = 2048, .norm_eps = eps};
}

constexpr Config llama2(const Dims& dims) { return {.dims = dims, .context = 4096}; }

constexpr Config llama3(const Dims& dims) {
  return {.dims = dims, .context = 8192, .rope = {.theta = 500'000}};
}

/// Llama 3.1 to 3.3: frequencies scaled by wavelength, from 8192 positions.
constexpr Config llama3_1(const Dims& dims, double factor, bool tied) {
  return {.dims = dims,
          .context = 131072,
          .tie_embeddings = tied,
          .rope = {.theta = 500'000,
                   .scaling = {.kind = RopeScalingKind::llama3,
                               .factor = factor,
                               .low_freq_factor = 1,
                               .high_freq_factor = 4,
                               .original_context = 8192}}};
}

constexpr Config smollm2(const Dims& dims, double theta) {
  return {.dims = dims, .context = 8192, .tie_embeddings = true, .rope = {.theta = theta}};
}

constexpr Config mistral(const Dims& dims, index_t context, double theta) {
  return {.dims = dims, .context = context, .rope = {.theta = theta}};
}

constexpr Config yi(const Dims& dims) {
  return {.dims = dims, .context = 4096, .rope = {.theta = 5'000'000}};
}

constexpr Config qwen2_5(const Dims& dims, index_t context, bool tied, double eps) {
  return {.dims = dims,
          .context = context,
          .tie_embeddings = tied,
          .qkv_bias = true,
          .norm_eps = eps,
          .rope = {.theta = 1'000'000, .pairs = RopePairs::half}};
}

constexpr Config qwen3(const Dims& dims, bool tied) {
  return {.dims = dims,
          .context = 40960,
          .tie_embeddings = tied,
          .norm_eps = 1e-6,
          .qk_norm = QkNorm::per_head,
          .rope = {.theta = 1'000'000, .pairs = RopePairs::half}};
}

/// Gemma 1: norms multiply by 1 + w, the embedding by sqrt(Model), the gate is GELU (tanh).
constexpr Config gemma(const Dims& dims, double sqrt_model) {
  return {.dims = dims,
          .context = 8192,
          .tie_embeddings = true,
          .norm_eps = 1e-6,
          .norm_weight_offset = 1,
          .activation = Activation::gelu_tanh,
          .rope = {.pairs = RopePairs::half},
          .embedding_scale = sqrt_model};
}

}  // namespace family

// clang-format off
//                                               layers  vocab  model heads kv head_dim hidden
/// Llama (February 2023).
inline constexpr Config llama1_7b  = family::llama1({32,  32000,  4096,  32, 32, 128, 11008}, 1e-6);
inline constexpr Config llama1_13b = family::llama1({40,  32000,  5120,  40, 40, 128, 13824}, 1e-6);
inline constexpr Config llama1_33b = family::llama1({60,  32000,  6656,  52, 52, 128, 17920}, 1e-6);
inline constexpr Config llama1_65b = family::llama1({80,  32000,  8192,  64, 64, 128, 22016}, 1e-5);

/// Llama 2.
inline constexpr Config llama2_7b  = family::llama2({32,  32000,  4096,  32, 32, 128, 11008});
inline constexpr Config llama2_13b = family::llama2({40,  32000,  5120,  40, 40, 128, 13824});
inline constexpr Config llama2_70b = family::llama2({80,  32000,  8192,  64,  8, 128, 28672});

/// Llama 3.
inline constexpr Config llama3_8b  = family::llama3({32, 128256,  4096,  32,  8, 128, 14336});
inline constexpr Config llama3_70b = family::llama3({80, 128256,  8192,  64,  8, 128, 28672});

/// Llama 3.1, 3.2 and 3.3.
inline constexpr Config llama3_1_8b =
    family::llama3_1({ 32, 128256,  4096,  32,  8, 128, 14336}, 8, false);
inline constexpr Config llama3_1_70b =
    family::llama3_1({ 80, 128256,  8192,  64,  8, 128, 28672}, 8, false);
inline constexpr Config llama3_1_405b =
    family::llama3_1({126, 128256, 16384, 128,  8, 128, 53248}, 8, false);
inline constexpr Config llama3_2_1b =
    family::llama3_1({ 16, 128256,  2048,  32,  8,  64,  8192}, 32, true);
inline constexpr Config llama3_2_3b =
    family::llama3_1({ 28, 128256,  3072,  24,  8, 128,  8192}, 32, true);
inline constexpr Config llama3_3_70b = llama3_1_70b;

/// TinyLlama.
inline constexpr Config tinyllama_1_1b{.dims = {22, 32000, 2048, 32, 4, 64, 5632}, .context = 2048};

/// SmolLM2.
inline constexpr Config smollm2_135m =
    family::smollm2({30, 49152,  576,  9,  3, 64, 1536}, 100'000);
inline constexpr Config smollm2_360m =
    family::smollm2({32, 49152,  960, 15,  5, 64, 2560}, 100'000);
inline constexpr Config smollm2_1_7b =
    family::smollm2({24, 49152, 2048, 32, 32, 64, 8192}, 130'000);

/// No positions in every fourth layer.
inline constexpr Config smollm3_3b{
    .dims = {36, 128256, 2048, 16, 4, 128, 11008},
    .context = 65536,
    .tie_embeddings = true,
    .norm_eps = 1e-6,
    .rope = {.theta = 5'000'000, .skipped_layers = {4}}};

/// A query sees 4096 keys, in every layer.
inline constexpr Config mistral_7b_v0_1{.dims = {32, 32000, 4096, 32, 8, 128, 14336},
                                        .context = 32768,
                                        .window = 4096};
inline constexpr Config mistral_7b_v0_3 =
    family::mistral({32,  32768, 4096, 32, 8, 128, 14336}, 32768, 1'000'000);
inline constexpr Config mistral_nemo_12b =
    family::mistral({40, 131072, 5120, 32, 8, 128, 14336}, 131072, 1'000'000);
inline constexpr Config mistral_small_24b =
    family::mistral({40, 131072, 5120, 32, 8, 128, 32768}, 32768, 100'000'000);

/// Yi.
inline constexpr Config yi_6b = family::yi({32, 64000, 4096, 32, 4, 128, 11008});
inline constexpr Config yi_9b = family::yi({48, 64000, 4096, 32, 4, 128, 11008});

/// DeepSeek LLM.
inline constexpr Config deepseek_llm_7b{.dims = {30, 102400, 4096, 32, 32, 128, 11008},
                                        .context = 4096,
                                        .norm_eps = 1e-6};

/// Qwen 2.5.
inline constexpr Config qwen2_5_0_5b =
    family::qwen2_5({24, 151936,  896, 14, 2,  64,  4864},  32768, true, 1e-6);
inline constexpr Config qwen2_5_1_5b =
    family::qwen2_5({28, 151936, 1536, 12, 2, 128,  8960}, 131072, true, 1e-6);
inline constexpr Config qwen2_5_3b =
    family::qwen2_5({36, 151936, 2048, 16, 2, 128, 11008},  32768, true, 1e-6);
inline constexpr Config qwen2_5_7b =
    family::qwen2_5({28, 152064, 3584, 28, 4, 128, 18944}, 131072, false, 1e-6);
inline constexpr Config qwen2_5_14b =
    family::qwen2_5({48, 152064, 5120, 40, 8, 128, 13824}, 131072, false, 1e-5);
inline constexpr Config qwen2_5_32b =
    family::qwen2_5({64, 152064, 5120, 40, 8, 128, 27648}, 131072, false, 1e-5);
inline constexpr Config qwen2_5_72b =
    family::qwen2_5({80, 152064, 8192, 64, 8, 128, 29568}, 131072, false, 1e-5);

/// Qwen 3.
inline constexpr Config qwen3_0_6b = family::qwen3({28, 151936, 1024, 16, 8, 128,  3072}, true);
inline constexpr Config qwen3_1_7b = family::qwen3({28, 151936, 2048, 16, 8, 128,  6144}, true);
inline constexpr Config qwen3_4b   = family::qwen3({36, 151936, 2560, 32, 8, 128,  9728}, true);
inline constexpr Config qwen3_8b   = family::qwen3({36, 151936, 4096, 32, 8, 128, 12288}, false);
inline constexpr Config qwen3_14b  = family::qwen3({40, 151936, 5120, 40, 8, 128, 17408}, false);
inline constexpr Config qwen3_32b  = family::qwen3({64, 151936, 5120, 64, 8, 128, 25600}, false);

/// Gemma.
inline constexpr Config gemma_2b =
    family::gemma({18, 256000, 2048,  8,  1, 256, 16384}, 45.254833995939045);
inline constexpr Config gemma_7b =
    family::gemma({28, 256000, 3072, 16, 16, 256, 24576}, 55.42562584220407);
// clang-format on

/// A configuration and the name it is asked for by.
struct Preset {
  const char* name;
  Config config;
};

/// Every preset.
inline constexpr Preset all[] = {
    {"llama-1-7b", llama1_7b},
    {"llama-1-13b", llama1_13b},
    {"llama-1-33b", llama1_33b},
    {"llama-1-65b", llama1_65b},
    {"llama-2-7b", llama2_7b},
    {"llama-2-13b", llama2_13b},
    {"llama-2-70b", llama2_70b},
    {"llama-3-8b", llama3_8b},
    {"llama-3-70b", llama3_70b},
    {"llama-3.1-8b", llama3_1_8b},
    {"llama-3.1-70b", llama3_1_70b},
    {"llama-3.1-405b", llama3_1_405b},
    {"llama-3.2-1b", llama3_2_1b},
    {"llama-3.2-3b", llama3_2_3b},
    {"llama-3.3-70b", llama3_3_70b},
    {"tinyllama-1.1b", tinyllama_1_1b},
    {"smollm2-135m", smollm2_135m},
    {"smollm2-360m", smollm2_360m},
    {"smollm2-1.7b", smollm2_1_7b},
    {"smollm3-3b", smollm3_3b},
    {"mistral-7b-v0.1", mistral_7b_v0_1},
    {"mistral-7b-v0.3", mistral_7b_v0_3},
    {"mistral-nemo-12b", mistral_nemo_12b},
    {"mistral-small-24b", mistral_small_24b},
    {"yi-6b", yi_6b},
    {"yi-9b", yi_9b},
    {"deepseek-llm-7b", deepseek_llm_7b},
    {"qwen2.5-0.5b", qwen2_5_0_5b},
    {"qwen2.5-1.5b", qwen2_5_1_5b},
    {"qwen2.5-3b", qwen2_5_3b},
    {"qwen2.5-7b", qwen2_5_7b},
    {"qwen2.5-14b", qwen2_5_14b},
    {"qwen2.5-32b", qwen2_5_32b},
    {"qwen2.5-72b", qwen2_5_72b},
    {"qwen3-0.6b", qwen3_0_6b},
    {"qwen3-1.7b", qwen3_1_7b},
    {"qwen3-4b", qwen3_4b},
    {"qwen3-8b", qwen3_8b},
    {"qwen3-14b", qwen3_14b},
    {"qwen3-32b", qwen3_32b},
    {"gemma-2b", gemma_2b},
    {"gemma-7b", gemma_7b},
};

/// The preset called `name`, or null.
constexpr const Preset* find(std::string_view name) {
  for (const Preset& preset : all) {
    if (name == preset.name) return &preset;
  }
  return nullptr;
}

}  // namespace imbrex::presets::inline IMBREX_ABI
