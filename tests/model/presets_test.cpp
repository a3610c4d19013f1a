// Totals of the presets against the parameter counts that the checkpoints' own files give (for
// Hugging Face checkpoints the sum over all tensors, without buffers such as inv_freq and without a
// second copy of a tied head). Equal to the last digit: sizes, biases, tying and the number of
// norms are all right together.
#include "imbrex/model/presets.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "imbrex/model/ledger.hpp"

using namespace imbrex;

static_assert(count_parameters(presets::llama1_7b).total == 6'738'415'616);
static_assert(count_parameters(presets::llama1_13b).total == 13'015'864'320);
static_assert(count_parameters(presets::llama1_33b).total == 32'528'943'616);
static_assert(count_parameters(presets::llama1_65b).total == 65'285'660'672);
static_assert(count_parameters(presets::llama2_7b).total == 6'738'415'616);
static_assert(count_parameters(presets::llama2_13b).total == 13'015'864'320);
static_assert(count_parameters(presets::llama2_70b).total == 68'976'648'192);
static_assert(count_parameters(presets::llama3_8b).total == 8'030'261'248);
static_assert(count_parameters(presets::llama3_70b).total == 70'553'706'496);
static_assert(count_parameters(presets::llama3_1_8b).total == 8'030'261'248);
static_assert(count_parameters(presets::llama3_1_70b).total == 70'553'706'496);
static_assert(count_parameters(presets::llama3_1_405b).total == 405'853'388'800);
static_assert(count_parameters(presets::llama3_2_1b).total == 1'235'814'400);
static_assert(count_parameters(presets::llama3_2_3b).total == 3'212'749'824);
static_assert(count_parameters(presets::llama3_3_70b).total == 70'553'706'496);
static_assert(count_parameters(presets::tinyllama_1_1b).total == 1'100'048'384);
static_assert(count_parameters(presets::smollm2_135m).total == 134'515'008);
static_assert(count_parameters(presets::smollm2_360m).total == 361'821'120);
static_assert(count_parameters(presets::smollm2_1_7b).total == 1'711'376'384);
static_assert(count_parameters(presets::smollm3_3b).total == 3'075'098'624);
static_assert(count_parameters(presets::mistral_7b_v0_1).total == 7'241'732'096);
static_assert(count_parameters(presets::mistral_7b_v0_3).total == 7'248'023'552);
static_assert(count_parameters(presets::mistral_nemo_12b).total == 12'247'782'400);
static_assert(count_parameters(presets::mistral_small_24b).total == 23'572'403'200);
static_assert(count_parameters(presets::yi_6b).total == 6'061'035'520);
// Published as "approximately 8.8B": Yi-6B with 16 more layers of 173,023,232 parameters.
static_assert(count_parameters(presets::yi_9b).total == 6'061'035'520 + 16 * 173'023'232LL);
static_assert(count_parameters(presets::deepseek_llm_7b).total == 6'910'365'696);
static_assert(count_parameters(presets::qwen2_5_0_5b).total == 494'032'768);
static_assert(count_parameters(presets::qwen2_5_1_5b).total == 1'543'714'304);
static_assert(count_parameters(presets::qwen2_5_3b).total == 3'085'938'688);
static_assert(count_parameters(presets::qwen2_5_7b).total == 7'615'616'512);
static_assert(count_parameters(presets::qwen2_5_14b).total == 14'770'033'664);
static_assert(count_parameters(presets::qwen2_5_32b).total == 32'763'876'352);
static_assert(count_parameters(presets::qwen2_5_72b).total == 72'706'203'648);
static_assert(count_parameters(presets::qwen3_0_6b).total == 596'049'920);
static_assert(count_parameters(presets::qwen3_1_7b).total == 1'720'574'976);
static_assert(count_parameters(presets::qwen3_4b).total == 4'022'468'096);
static_assert(count_parameters(presets::qwen3_8b).total == 8'190'735'360);
static_assert(count_parameters(presets::qwen3_14b).total == 14'768'307'200);
static_assert(count_parameters(presets::qwen3_32b).total == 32'762'123'264);
static_assert(count_parameters(presets::gemma_2b).total == 2'506'172'416);
static_assert(count_parameters(presets::gemma_7b).total == 8'537'680'896);

namespace {

Config untied(Config config) {
  config.tie_embeddings = false;
  return config;
}

}  // namespace

TEST_CASE("presets: what Hugging Face's totals add to the parameters") {
  // Llama-2-7b-hf and llama-30b hold 64 values of inv_freq in each layer: 2,048 and 3,840.
  CHECK(6'738'417'664 - count_parameters(presets::llama2_7b).total == 32 * 64);
  CHECK(32'528'947'456 - count_parameters(presets::llama1_33b).total == 60 * 64);
  // Tied models whose files store the head all the same, and a distillation that unties it.
  CHECK(count_parameters(untied(presets::qwen3_0_6b)).total == 751'632'384);
  CHECK(count_parameters(untied(presets::qwen3_1_7b)).total == 2'031'739'904);
  CHECK(count_parameters(untied(presets::qwen2_5_1_5b)).total == 1'777'088'000);
}

TEST_CASE("presets: heads * head_dim is not model everywhere") {
  std::set<std::string> odd;
  for (const presets::Preset& preset : presets::all) {
    const Dims& d = preset.config.dims;
    if (d.heads * d.head_dim != d.model) odd.insert(preset.name);
  }
  CHECK(odd == std::set<std::string>{"gemma-7b", "mistral-nemo-12b", "mistral-small-24b",
                                     "qwen3-0.6b", "qwen3-4b", "qwen3-32b"});
}

TEST_CASE("presets: every one is complete, consistent and found by its name") {
  std::set<std::string> names;
  for (const presets::Preset& preset : presets::all) {
    CAPTURE(preset.name);
    CHECK_NOTHROW(check(preset.config));
    CHECK(is_static(preset.config.dims));
    CHECK(names.insert(preset.name).second);
    REQUIRE(presets::find(preset.name) != nullptr);
    CHECK(presets::find(preset.name)->config == preset.config);
  }
  CHECK(names.size() == 42);
  CHECK(presets::find("llama-2-7b")->config == presets::llama2_7b);
  CHECK(presets::find("llama-2-8b") == nullptr);
  CHECK(presets::find("") == nullptr);
}

TEST_CASE("presets: what a count cannot see") {
  CHECK(presets::llama2_7b.rope.theta == 10000);
  CHECK(presets::llama3_8b.rope.scaling.kind == RopeScalingKind::none);
  CHECK(presets::llama3_1_8b.rope.scaling.factor == 8);
  CHECK(presets::llama3_2_1b.rope.scaling.factor == 32);
  CHECK(presets::llama3_2_1b.rope.scaling.original_context == 8192);
  CHECK(presets::llama1_7b.norm_eps == 1e-6);
  CHECK(presets::llama2_7b.norm_eps == 1e-5);
  // Qwen and Gemma turn the halves of a head against each other, Llama neighbours.
  CHECK(presets::qwen2_5_0_5b.rope.pairs == RopePairs::half);
  CHECK(presets::gemma_2b.rope.pairs == RopePairs::half);
  CHECK(presets::smollm2_135m.rope.pairs == RopePairs::interleaved);
  // Gemma scales the embedding by sqrt(Model).
  CHECK(presets::gemma_2b.embedding_scale * presets::gemma_2b.embedding_scale ==
        doctest::Approx(2048).epsilon(1e-15));
  CHECK(presets::gemma_7b.embedding_scale * presets::gemma_7b.embedding_scale ==
        doctest::Approx(3072).epsilon(1e-15));
  // Mistral 7B: every layer windowed in v0.1, none in v0.3. SmolLM3: no RoPE in layers 3, 7, ...
  CHECK(window(presets::mistral_7b_v0_1, 31) == 4096);
  CHECK(window(presets::mistral_7b_v0_3, 31) == 0);
  CHECK(rotates(presets::smollm3_3b, 2));
  CHECK_FALSE(rotates(presets::smollm3_3b, 3));
  CHECK(rotates(presets::smollm3_3b, 4));
  CHECK_FALSE(rotates(presets::smollm3_3b, 35));
}
