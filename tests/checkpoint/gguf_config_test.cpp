#include "imbrex/checkpoint/gguf_config.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "imbrex/model/presets.hpp"

using namespace imbrex;

namespace {

template <class T>
std::string bytes_of(T x) {
  std::string bytes(sizeof x, '\0');
  std::memcpy(bytes.data(), &x, sizeof x);
  return bytes;
}

std::string text(const std::string& s) { return bytes_of(std::uint64_t{s.size()}) + s; }

// The types of value that configurations are made of, encoded after their type.
std::string u32(std::uint32_t x) { return bytes_of(std::uint32_t{4}) + bytes_of(x); }
std::string f32(float x) { return bytes_of(std::uint32_t{6}) + bytes_of(x); }
std::string boolean(bool x) { return bytes_of(std::uint32_t{7}) + std::string(1, x ? 1 : 0); }
std::string str(const std::string& s) { return bytes_of(std::uint32_t{8}) + text(s); }

/// A GGUF file in the making: keys with encoded values, and empty F32 tensors, which say that they
/// are there and how wide, and take no bytes.
struct Draft {
  std::map<std::string, std::string> keys;
  std::vector<std::string> vectors;  // names of tensors [0]
  std::vector<std::uint64_t> embedding{0, 320};

  std::string file() const {
    std::string out = "GGUF" + bytes_of(std::uint32_t{3}) +
                      bytes_of(std::uint64_t{vectors.size() + 1}) +
                      bytes_of(std::uint64_t{keys.size()});
    for (const auto& [key, value] : keys) out += text(key) + value;
    out += tensor("token_embd.weight", embedding);
    for (const std::string& name : vectors) out += tensor(name, {0});
    return out;
  }

  static std::string tensor(const std::string& name, const std::vector<std::uint64_t>& dims) {
    std::string out = text(name) + bytes_of(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) out += bytes_of(dim);
    return out + bytes_of(std::uint32_t{0}) + bytes_of(std::uint64_t{0});
  }
};

/// The keys that a file of architecture llama cannot be without.
Draft llama() {
  Draft draft;
  draft.keys = {{"general.architecture", str("llama")},
                {"llama.block_count", u32(2)},
                {"llama.context_length", u32(256)},
                {"llama.embedding_length", u32(64)},
                {"llama.feed_forward_length", u32(96)},
                {"llama.attention.head_count", u32(4)},
                {"llama.attention.layer_norm_rms_epsilon", f32(1e-5f)}};
  draft.vectors = {"output.weight"};
  return draft;
}

Config read(const Draft& draft) {
  const std::string bytes = draft.file();
  return config_from_gguf(
      GgufFile::parse(std::as_bytes(std::span(bytes.data(), bytes.size())), "draft.gguf"));
}

Config with(const std::string& key, const std::string& value) {
  Draft draft = llama();
  draft.keys[key] = value;
  return read(draft);
}

/// What is said of the file with `key` set to `value`, or without it where `value` is empty.
std::string complaint(const std::string& key, const std::string& value) {
  Draft draft = llama();
  draft.keys[key] = value;
  if (value.empty()) draft.keys.erase(key);
  try {
    read(draft);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("config_from_gguf: the fewest keys, and their defaults") {
  const Config config = read(llama());
  CHECK(config.dims == Dims{.layers = 2,
                            .vocab = 320,
                            .model = 64,
                            .heads = 4,
                            .kv_heads = 4,
                            .head_dim = 16,
                            .hidden = 96});
  CHECK(config.context == 256);
  CHECK(config.norm_eps == static_cast<double>(1e-5f));
  CHECK_FALSE(config.tie_embeddings);
  CHECK_FALSE(config.qkv_bias);
  CHECK(config.window == 0);
  CHECK(config.rope.theta == 10000);
  CHECK(config.rope.rotary_dims == 0);
  CHECK(config.rope.pairs == RopePairs::interleaved);
  CHECK(config.rope.scaling == RopeScaling{});
  CHECK_FALSE(config.rope.stored_factors);
}

TEST_CASE("config_from_gguf: the metadata of SmolLM2 135M is the preset") {
  Draft draft;
  draft.keys = {{"general.architecture", str("llama")},
                {"llama.block_count", u32(30)},
                {"llama.context_length", u32(8192)},
                {"llama.embedding_length", u32(576)},
                {"llama.feed_forward_length", u32(1536)},
                {"llama.attention.head_count", u32(9)},
                {"llama.attention.head_count_kv", u32(3)},
                {"llama.rope.freq_base", f32(100000)},
                {"llama.attention.layer_norm_rms_epsilon", f32(1e-5f)},
                {"llama.vocab_size", u32(49152)},
                {"llama.rope.dimension_count", u32(64)}};
  draft.embedding = {0, 49152};
  Config config = read(draft);
  CHECK(config.norm_eps == doctest::Approx(1e-5).epsilon(1e-7));  // stored as a float
  config.norm_eps = presets::smollm2_135m.norm_eps;
  CHECK(config == presets::smollm2_135m);
}

TEST_CASE("config_from_gguf: optional keys") {
  CHECK(with("llama.attention.head_count_kv", u32(2)).dims.kv_heads == 2);
  CHECK(with("llama.attention.key_length", u32(32)).dims.head_dim == 32);
  CHECK(with("llama.rope.freq_base", f32(500000)).rope.theta == 500000);
  CHECK(with("llama.rope.dimension_count", u32(16)).rope.rotary_dims == 0);
  CHECK(with("llama.rope.dimension_count", u32(8)).rope.rotary_dims == 8);
  CHECK(with("llama.attention.sliding_window", u32(4096)).window == 4096);
  CHECK(with("llama.attention.scale", f32(0.25f)).attention_scale == 0.25);
  // Rows of the embedding, not the number of tokens.
  CHECK(with("llama.vocab_size", u32(300)).dims.vocab == 320);
  CHECK(with("llama.expert_count", u32(0)).dims.layers == 2);
}

TEST_CASE("config_from_gguf: what tensors say") {
  Draft draft = llama();
  draft.vectors = {};
  CHECK(read(draft).tie_embeddings);
  draft.vectors = {"blk.0.attn_q.bias"};
  CHECK(read(draft).qkv_bias);
  draft.vectors = {"blk.0.attn_output.bias", "blk.0.ffn_down.bias", "rope_freqs.weight"};
  CHECK_FALSE(read(draft).qkv_bias);
  CHECK(read(draft).output_bias);
  CHECK(read(draft).ffn_bias);
  CHECK(read(draft).rope.stored_factors);
}

TEST_CASE("config_from_gguf: scaling of RoPE") {
  Draft draft = llama();
  draft.keys["llama.rope.scaling.type"] = str("linear");
  draft.keys["llama.rope.scaling.factor"] = f32(4);
  CHECK(read(draft).rope.scaling == RopeScaling{.kind = RopeScalingKind::linear, .factor = 4});

  draft.keys["llama.rope.scaling.type"] = str("none");
  CHECK(read(draft).rope.scaling == RopeScaling{});

  draft.keys["llama.rope.scaling.type"] = str("yarn");
  draft.keys["llama.rope.scaling.original_context_length"] = u32(4096);
  draft.keys["llama.rope.scaling.yarn_beta_fast"] = f32(64);
  CHECK(read(draft).rope.scaling ==
        RopeScaling{
            .kind = RopeScalingKind::yarn, .factor = 4, .original_context = 4096, .beta_fast = 64});

  // Before there was a type, a factor meant linear, under either name.
  CHECK(with("llama.rope.scaling.factor", f32(2)).rope.scaling ==
        RopeScaling{.kind = RopeScalingKind::linear, .factor = 2});
  CHECK(with("llama.rope.scale_linear", f32(2)).rope.scaling ==
        RopeScaling{.kind = RopeScalingKind::linear, .factor = 2});
  CHECK(with("llama.rope.scale_linear", f32(1)).rope.scaling == RopeScaling{});

  CHECK(complaint("llama.rope.scaling.type", str("dynamic")) ==
        "llama.rope.scaling.type = dynamic: expected none, linear or yarn");
  CHECK(complaint("llama.rope.scaling.type", str("longrope")) ==
        "llama.rope.scaling.type = longrope: expected none, linear or yarn");
  CHECK(complaint("llama.rope.scaling.type", str("llama3")) ==
        "llama.rope.scaling.type = llama3: expected none, linear or yarn");
  CHECK(complaint("llama.rope.scaling.type", str("linear")) ==
        "draft.gguf: missing key (llama.rope.scaling.factor): expected FLOAT32");
  CHECK(complaint("llama.rope.scaling.factor", f32(0)) ==
        "rope.scaling.factor = 0: expected a positive number");
  CHECK(complaint("llama.rope.scaling.attn_factor", f32(1.5f)) ==
        "llama.rope.scaling.attn_factor = 1.5: expected 1, or no such key");
}

TEST_CASE("config_from_gguf: a key that is not known is an error, not left out") {
  CHECK(complaint("llama.temperature_of_the_moon", f32(3)) ==
        "llama.temperature_of_the_moon = 3: expected no such key: it is unknown");
  CHECK(complaint("llama.swin_norm", boolean(false)) ==
        "llama.swin_norm = false: expected no such key: it is unknown");
  CHECK(complaint("llama.attention.head_count.", u32(4)) ==
        "llama.attention.head_count. = 4: expected no such key: it is unknown");
  CHECK(complaint("llama.\x1b[2J", str("\n")) ==
        "llama.?[2J = \"?\": expected no such key: it is unknown");
  // Those of others are nobody's business.
  for (const char* key : {"general.temperature", "llama", "llama4.residual_scale", "split.no"}) {
    CHECK_MESSAGE(complaint(key, f32(3)) == "", key);
  }
}

TEST_CASE("config_from_gguf: a key may say what the library computes, and nothing else") {
  struct Case {
    const char* key;
    std::string neutral, other, shown;
  };
  const std::string yes = boolean(true), no = boolean(false);
  const Case cases[] = {
      {"attention.causal", yes, no, "false"},
      {"attention.causal", yes, u32(1), "1"},
      {"use_parallel_residual", no, yes, "true"},
      {"attention.clamp_kqv", f32(0), f32(8), "8"},
      {"attention.max_alibi_bias", f32(0), f32(8), "8"},
      {"attention.output_scale", f32(1), f32(0.5f), "0.5"},
      {"attention.value_scale", f32(1), f32(0.5f), "0.5"},
      {"attn_logit_softcapping", f32(0), f32(50), "50"},
      {"final_logit_softcapping", f32(0), f32(30), "30"},
      {"embedding_scale", f32(1), f32(12), "12"},
      {"residual_scale", f32(1), f32(0.22f), "0.219999999"},
      {"logit_scale", f32(1), f32(8), "8"},
      {"logit_scale", u32(1), str("1"), "\"1\""},
      {"expert_count", u32(0), u32(8), "8"},
      {"expert_used_count", u32(0), u32(2), "2"},
      {"pooling_type", u32(0), u32(1), "1"},
      {"rope.scaling.attn_factor", f32(1), f32(0.5f), "0.5"},
      {"rope.scaling.yarn_attn_factor", f32(1), f32(0.5f), "0.5"},
      {"rope.scaling.yarn_ext_factor", f32(1), f32(0), "0"},
      // llama.cpp's attention factor is m(1) / m(multiplier), m(x) = 0.1 x ln(factor) + 1: as it
      // is without the key for 0, 1 for 1.
      {"rope.scaling.yarn_log_multiplier", f32(0), f32(1), "1"},
      {"tensor_data_layout", str("Meta AI original pth"), str("jploski"), "\"jploski\""},
      {"tensor_data_layout", str("reference"), u32(0), "0"},
  };
  const Config config = read(llama());
  for (const Case& c : cases) {
    CAPTURE(c.key);
    CHECK(with("llama." + std::string(c.key), c.neutral) == config);
    CHECK(complaint("llama." + std::string(c.key), c.other)
              .starts_with("llama." + std::string(c.key) + " = " + c.shown + ": expected "));
  }
  // And these say nothing of the computation.
  CHECK(with("llama.rope.scaling.finetuned", yes) == config);
  CHECK(with("llama.rope.scaling.finetuned", no) == config);
  CHECK(with("llama.attention.layer_norm_epsilon", f32(1e-3f)) == config);
  CHECK(with("llama.rope.scaling.original_context_length", u32(8192)) == config);
}

TEST_CASE("config_from_gguf: an embedding may have more rows than there are tokens, not fewer") {
  CHECK(with("llama.vocab_size", u32(320)).dims.vocab == 320);
  CHECK(complaint("llama.vocab_size", u32(321)) ==
        "llama.vocab_size = 321: expected at most 320, the rows of token_embd.weight");
  CHECK(complaint("llama.vocab_size", u32(0)) == "llama.vocab_size = 0: expected 1 or more");
}

TEST_CASE("config_from_gguf: what the library cannot compute is refused by name") {
  CHECK(complaint("general.architecture", str("qwen2moe")) ==
        "general.architecture = qwen2moe: expected llama");
  CHECK(complaint("general.architecture", str("")) == "general.architecture = : expected llama");
  CHECK(complaint("llama.expert_count", u32(8)) ==
        "llama.expert_count = 8: expected 0: a mixture of experts is not supported");
  CHECK(complaint("llama.attention.value_length", u32(8)) ==
        "llama.attention.value_length = 8: expected the length of keys");
}

TEST_CASE("config_from_gguf: missing, mistyped and impossible values") {
  for (const char* key : {"general.architecture", "llama.block_count", "llama.context_length",
                          "llama.embedding_length", "llama.feed_forward_length",
                          "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    CAPTURE(key);
    CHECK(complaint(key, "").starts_with("draft.gguf: missing key (" + std::string(key) + ")"));
  }
  CHECK(complaint("llama.block_count", u32(0)) == "llama.block_count = 0: expected 1 or more");
  CHECK(complaint("llama.attention.head_count", u32(0)) ==
        "llama.attention.head_count = 0: expected 1 or more");
  CHECK(complaint("llama.attention.head_count", u32(5)) ==
        "llama.attention.head_count = 5: expected a divisor of embedding_length, or "
        "attention.key_length");
  CHECK(complaint("llama.attention.head_count_kv", u32(0)) ==
        "llama.attention.head_count_kv = 0: expected 1 or more");
  CHECK(complaint("llama.attention.head_count_kv", u32(3)) ==
        "heads = 4: expected a multiple of kv_heads = 3");
  CHECK(complaint("llama.rope.dimension_count", u32(32)) ==
        "rope.rotary_dims = 32: expected an even number from 2 to head_dim = 16");
  CHECK(complaint("llama.rope.dimension_count", u32(0)) ==
        "llama.rope.dimension_count = 0: expected 1 or more");
  CHECK(complaint("llama.attention.layer_norm_rms_epsilon", f32(0)) ==
        "norm_eps = 0: expected a positive number");
  CHECK(complaint("llama.block_count", str("2"))
            .starts_with("draft.gguf: wrong value (llama.block_count)"));
}

TEST_CASE("config_from_gguf: an embedding that is no matrix") {
  Draft draft = llama();
  draft.embedding = {0};
  CHECK_THROWS_WITH_AS(read(draft),
                       "draft.gguf: wrong shape (token_embd.weight): expected a matrix, got [0]",
                       FormatError);
  draft.embedding = {64, 0};
  CHECK_THROWS_WITH_AS(read(draft), "vocab = 0: expected 1 or more", ConfigError);
}
