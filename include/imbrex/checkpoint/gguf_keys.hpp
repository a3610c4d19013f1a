// The metadata keys of an architecture in GGUF (github.com/ggml-org/ggml, docs/gguf.md, and those
// that converters write besides): what is done with each, in one table, and how they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "imbrex/base/printable.hpp"
#include "imbrex/formats/gguf_file.hpp"

namespace imbrex::gguf_keys::inline IMBREX_ABI {

// Which values of a key leave the computation as it is.
inline bool any(const GgufValue&) { return true; }
inline bool is_false(const GgufValue& value) { return value.to<bool>() == false; }
inline bool is_true(const GgufValue& value) { return value.to<bool>() == true; }

template <int number>
bool is(const GgufValue& value) {
  return value.to<double>() == double{number} || value.to<std::int64_t>() == number;
}

/// Files of architecture llama have one layout; converters have called it by two names.
inline bool is_known_layout(const GgufValue& value) {
  const std::optional<std::string_view> name = value.to<std::string_view>();
  return name == "reference" || name == "Meta AI original pth";
}

/// A key, after "llama.".
struct KeyRow {
  std::string_view name;
  bool (*accepts)(const GgufValue&);
  const char* expected = "";  ///< in the error for a value that is not accepted
};

/// Every key that is understood. Those with `any` either become a part of the configuration, and
/// are checked as they are read (gguf_config.hpp), or have no part in what a decoder computes; for
/// each of those it is said why. All others may only say what the library computes anyway.
inline constexpr KeyRow key_table[] = {
    {"block_count", any},
    {"context_length", any},
    {"embedding_length", any},
    {"feed_forward_length", any},
    {"vocab_size", any},
    {"attention.head_count", any},
    {"attention.head_count_kv", any},
    {"attention.key_length", any},
    {"attention.value_length", any},
    {"attention.layer_norm_rms_epsilon", any},
    {"attention.scale", any},
    {"attention.sliding_window", any},
    {"rope.freq_base", any},
    {"rope.dimension_count", any},
    {"rope.scale_linear", any},
    {"rope.scaling.type", any},
    {"rope.scaling.factor", any},
    {"rope.scaling.original_context_length", any},
    {"rope.scaling.yarn_beta_fast", any},
    {"rope.scaling.yarn_beta_slow", any},

    // Whether the weights were trained with the scaling that the keys above say.
    {"rope.scaling.finetuned", any},
    // Of LayerNorm, which the architecture does not have; written where a model's source has it.
    {"attention.layer_norm_epsilon", any},

    {"tensor_data_layout", is_known_layout, "reference or Meta AI original pth"},
    {"attention.causal", is_true, "true: attention to later tokens is not supported"},
    {"use_parallel_residual", is_false, "false: parallel residuals are not supported"},
    {"attention.clamp_kqv", is<0>, "0: clamped queries, keys and values are not supported"},
    {"attention.max_alibi_bias", is<0>, "0: ALiBi is not supported"},
    {"attention.output_scale", is<1>, "1: a scale of attention's output is not supported"},
    {"attention.value_scale", is<1>, "1: a scale of values is not supported"},
    {"attn_logit_softcapping", is<0>, "0: capped scores are not part of this architecture"},
    {"final_logit_softcapping", is<0>, "0: capped logits are not part of this architecture"},
    {"embedding_scale", is<1>, "1: a scaled embedding is not part of this architecture"},
    {"residual_scale", is<1>, "1: scaled residuals are not supported"},
    {"logit_scale", is<1>, "1: scaled logits are not supported"},
    {"expert_count", is<0>, "0: a mixture of experts is not supported"},
    {"expert_used_count", is<0>, "0: a mixture of experts is not supported"},
    {"pooling_type", is<0>, "0: an embedding of a whole text is not what a decoder computes"},
    // Variants of YaRN's attention factor. The multiplier is that of mscale_all_dim: 0 is none.
    {"rope.scaling.attn_factor", is<1>, "1, or no such key"},
    {"rope.scaling.yarn_attn_factor", is<1>, "1, or no such key"},
    {"rope.scaling.yarn_ext_factor", is<1>, "1, or no such key"},
    {"rope.scaling.yarn_log_multiplier", is<0>, "0, or no such key"},
};

/// A value as errors show it: "8", "true", "\"alibi\"", "ARRAY of 2 INT32".
inline std::string shown(const GgufValue& value) {
  const std::string text = value.describe();
  return value.type() == GgufValueType::array ? text : text.substr(text.find(' ') + 1);
}

}  // namespace imbrex::gguf_keys::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Reads the keys of one architecture ("llama." and so on).
class GgufKeys {
 public:
  GgufKeys(const GgufFile& file, std::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  /// Throws ConfigError for a key of the architecture that is not in the table, or has a value with
  /// which the model would compute something else than the library does.
  void check_known() const {
    for (const GgufEntry& entry : file_.metadata()) {
      if (!entry.key.starts_with(prefix_)) continue;
      const std::string_view key = entry.key.substr(prefix_.size());
      const gguf_keys::KeyRow* row = row_of(key);
      if (row == nullptr) refuse(key, gguf_keys::shown(entry.value), "no such key: it is unknown");
      if (!row->accepts(entry.value)) refuse(key, gguf_keys::shown(entry.value), row->expected);
    }
  }

  /// The whole name of a key: "llama." and `key`; and whether the file has it.
  std::string name(std::string_view key) const { return prefix_ + std::string(key); }
  bool has(std::string_view key) const { return file_.find(name(key)) != nullptr; }

  /// A size: 1 or more.
  index_t size(std::string_view key) const {
    const index_t n = file_.get<index_t>(name(key));
    if (n < 1) refuse(key, std::to_string(n), "1 or more");
    return n;
  }
  index_t size_or(std::string_view key, index_t otherwise) const {
    return has(key) ? size(key) : otherwise;
  }

  /// A number. Throws FormatError where it is missing, unless there is an `otherwise`.
  double number(std::string_view key) const { return double{file_.get<float>(name(key))}; }
  double number_or(std::string_view key, double otherwise) const {
    return has(key) ? number(key) : otherwise;
  }

  /// Throws ConfigError with the key's whole name.
  [[noreturn]] void refuse(std::string_view key, std::string value,
                           const std::string& expected) const {
    raise(ConfigError(printable(name(key)), std::move(value), expected));
  }

 private:
  static const gguf_keys::KeyRow* row_of(std::string_view key) {
    for (const gguf_keys::KeyRow& row : gguf_keys::key_table) {
      if (row.name == key) return &row;
    }
    return nullptr;
  }

  const GgufFile& file_;
  std::string prefix_;
};

}  // namespace imbrex::inline IMBREX_ABI
