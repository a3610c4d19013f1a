// The configuration that a GGUF file describes: its metadata (github.com/ggml-org/ggml,
// docs/gguf.md), and where it has no key for something, which tensors are there.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "imbrex/checkpoint/gguf_keys.hpp"
#include "imbrex/formats/gguf_file.hpp"
#include "imbrex/model/config_check.hpp"

namespace imbrex::gguf_config::inline IMBREX_ABI {

/// What an architecture name settles that no key says.
struct Architecture {
  std::string_view name;
  RopePairs pairs;
};

inline constexpr Architecture architectures[] = {{"llama", RopePairs::interleaved}};

inline const Architecture& architecture_of(const GgufFile& file) {
  const std::string name = file.get<std::string>("general.architecture");
  std::string known;
  for (const Architecture& architecture : architectures) {
    if (name == architecture.name) return architecture;
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  raise(ConfigError("general.architecture", printable(name), known));
}

inline index_t rows_of_embedding(const GgufFile& file) {
  const GgufTensor& embedding = file.tensor("token_embd.weight");
  if (embedding.rank != 2) {
    raise(FormatError({.file = file.name(),
                       .problem = "wrong shape",
                       .tensor = "token_embd.weight",
                       .expected = "a matrix",
                       .got = embedding.shape()}));
  }
  return embedding.dims[1];
}

inline Dims dims_of(const GgufFile& file, const GgufKeys& keys) {
  Dims d;
  d.layers = keys.size("block_count");
  d.vocab = rows_of_embedding(file);
  if (const index_t n = keys.size_or("vocab_size", d.vocab); n > d.vocab) {
    keys.refuse("vocab_size", std::to_string(n),
                "at most " + std::to_string(d.vocab) + ", the rows of token_embd.weight");
  }
  d.model = keys.size("embedding_length");
  d.heads = keys.size("attention.head_count");
  d.kv_heads = keys.size_or("attention.head_count_kv", d.heads);
  if (!keys.has("attention.key_length") && d.model % d.heads != 0) {
    keys.refuse("attention.head_count", std::to_string(d.heads),
                "a divisor of embedding_length, or attention.key_length");
  }
  d.head_dim = keys.size_or("attention.key_length", d.model / d.heads);
  if (index_t rows = 0; !multiply_fits(d.heads, d.head_dim, rows)) {
    const index_t most = (std::numeric_limits<index_t>::max)() / d.heads;
    keys.refuse("attention.key_length", std::to_string(d.head_dim),
                "at most " + std::to_string(most) + " with " + std::to_string(d.heads) + " heads");
  }
  if (const index_t n = keys.size_or("attention.value_length", d.head_dim); n != d.head_dim) {
    keys.refuse("attention.value_length", std::to_string(n), "the length of keys");
  }
  d.hidden = keys.size("feed_forward_length");
  return d;
}

inline RopeScaling rope_scaling_of(const GgufFile& file, const GgufKeys& keys) {
  // Files from before there was a type scale linearly, by either of these keys.
  const bool old_key = keys.has("rope.scale_linear") && !keys.has("rope.scaling.factor");
  const char* factor = old_key ? "rope.scale_linear" : "rope.scaling.factor";
  const char* default_kind = keys.has(factor) ? "linear" : "none";
  const std::string kind = file.get_or<std::string>(keys.name("rope.scaling.type"), default_kind);
  RopeScaling scaling;
  if (kind == "none") return scaling;
  if (kind != "linear" && kind != "yarn") {
    keys.refuse("rope.scaling.type", printable(kind), "none, linear or yarn");
  }
  scaling.factor = keys.number(factor);
  scaling.kind = RopeScalingKind::linear;
  if (kind == "yarn") {
    scaling.kind = RopeScalingKind::yarn;
    scaling.original_context = keys.size("rope.scaling.original_context_length");
    scaling.beta_fast = keys.number_or("rope.scaling.yarn_beta_fast", scaling.beta_fast);
    scaling.beta_slow = keys.number_or("rope.scaling.yarn_beta_slow", scaling.beta_slow);
  } else if (scaling.factor == 1) {
    scaling.kind = RopeScalingKind::none;
  }
  return scaling;
}

inline RopeConfig rope_of(const GgufFile& file, const GgufKeys& keys, RopePairs pairs,
                          index_t head_dim) {
  RopeConfig rope;
  rope.theta = keys.number_or("rope.freq_base", 10000);  // the format's own default
  rope.pairs = pairs;
  const index_t turned = keys.size_or("rope.dimension_count", head_dim);
  rope.rotary_dims = turned == head_dim ? 0 : turned;
  rope.scaling = rope_scaling_of(file, keys);
  rope.stored_factors = file.find_tensor("rope_freqs.weight") != nullptr;
  return rope;
}

}  // namespace imbrex::gguf_config::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// The configuration of the model in `file`. The vocabulary is as many rows as token_embd.weight
/// has (which may be more than vocab_size and the tokenizer's tokens, not less); embeddings are
/// tied where there is no output.weight; there are the biases that the first block has.
/// Architecture: llama. Throws FormatError for a key that is missing or of another type, and
/// ConfigError, with key and value, for an architecture, a RoPE scaling or a value that the library
/// does not know how to compute, and for a key of the architecture that it does not know
/// (gguf_keys.hpp has those that it does).
inline Config config_from_gguf(const GgufFile& file) {
  const gguf_config::Architecture& architecture = gguf_config::architecture_of(file);
  const GgufKeys keys(file, architecture.name);
  keys.check_known();
  const auto has_tensor = [&](const char* name) { return file.find_tensor(name) != nullptr; };
  Config config;
  config.dims = gguf_config::dims_of(file, keys);
  config.context = keys.size("context_length");
  config.tie_embeddings = !has_tensor("output.weight");
  config.qkv_bias = has_tensor("blk.0.attn_q.bias");
  config.output_bias = has_tensor("blk.0.attn_output.bias");
  config.ffn_bias = has_tensor("blk.0.ffn_down.bias");
  config.norm_eps = keys.number("attention.layer_norm_rms_epsilon");
  config.attention_scale = keys.number_or("attention.scale", 0);
  config.window = keys.size_or("attention.sliding_window", 0);
  config.rope = gguf_config::rope_of(file, keys, architecture.pairs, config.dims.head_dim);
  check(config);
  return config;
}

}  // namespace imbrex::inline IMBREX_ABI
