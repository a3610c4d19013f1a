// Whether a configuration makes sense: one check, at run time and in constant expressions.
#pragma once

#include <limits>

#include "imbrex/base/errors.hpp"
#include "imbrex/model/config.hpp"

namespace imbrex::config_check::inline IMBREX_ABI {

// Not constexpr on purpose: in a constant expression reaching them is the compile error.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_size(const char* key, index_t value,
                                                             const std::string& expected) {
  raise(ConfigError(key, std::to_string(value), expected));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_number(const char* key, double value,
                                                               const char* expected) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  raise(ConfigError(key, text, expected));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_dynamic(const char* key) {
  raise(ConfigError(key, "dynamic", "a size"));
}

constexpr bool finite(double x) {
  return x >= std::numeric_limits<double>::lowest() && x <= (std::numeric_limits<double>::max)();
}

/// Whether a float holds x with all its digits: layers compute with floats.
constexpr bool fits_float(double x) {
  return x >= (std::numeric_limits<float>::min)() && x <= (std::numeric_limits<float>::max)();
}

constexpr void positive(const char* key, double x) {
  if (!(finite(x) && x > 0)) fail_number(key, x, "a positive number");
  if (!fits_float(x)) fail_number(key, x, "a positive number within a float's range");
}

constexpr void zero_or_more(const char* key, double x) {
  if (!(finite(x) && x >= 0)) fail_number(key, x, "0 or a positive number");
  if (x != 0) positive(key, x);
}

constexpr void positive(const char* key, index_t x) {
  if (x < 1) fail_size(key, x, "1 or more");
}

constexpr void zero_or_more(const char* key, index_t x) {
  if (x < 0) fail_size(key, x, "0 or more");
}

/// A choice is one of those that there are, `last` being the last of them.
template <class Choice>
constexpr void known(const char* key, Choice choice, Choice last) {
  const index_t number = static_cast<index_t>(choice), most = static_cast<index_t>(last);
  if (number > most) fail_size(key, number, "a choice, 0 to " + std::to_string(most));
}

constexpr void check_choices(const Config& c) {
  known("norm", c.norm, NormKind::layer_norm);
  known("norm_placement", c.norm_placement, NormPlacement::both);
  known("qk_norm", c.qk_norm, QkNorm::full);
  known("activation", c.activation, Activation::relu);
  known("feed_forward", c.feed_forward, FeedForwardKind::plain);
  known("positions", c.positions, Positions::none);
  known("rope.pairs", c.rope.pairs, RopePairs::half);
  known("rope.scaling.kind", c.rope.scaling.kind, RopeScalingKind::yarn);
}

constexpr void check_rope_scaling(const RopeScaling& scaling) {
  if (scaling.kind == RopeScalingKind::none) return;
  positive("rope.scaling.factor", scaling.factor);
  if (scaling.kind == RopeScalingKind::linear) return;
  positive("rope.scaling.original_context", scaling.original_context);
  if (scaling.kind == RopeScalingKind::llama3) {
    positive("rope.scaling.low_freq_factor", scaling.low_freq_factor);
    positive("rope.scaling.high_freq_factor", scaling.high_freq_factor);
    if (!(scaling.high_freq_factor > scaling.low_freq_factor)) {
      fail_number("rope.scaling.high_freq_factor", scaling.high_freq_factor,
                  "more than rope.scaling.low_freq_factor");
    }
  } else {
    positive("rope.scaling.beta_slow", scaling.beta_slow);
    positive("rope.scaling.beta_fast", scaling.beta_fast);
    zero_or_more("rope.scaling.attention_factor", scaling.attention_factor);
    if (!(scaling.beta_fast > scaling.beta_slow)) {
      fail_number("rope.scaling.beta_fast", scaling.beta_fast, "more than rope.scaling.beta_slow");
    }
  }
}

constexpr void check_rope(const Config& config) {
  const index_t turned = rotary_dims(config);
  positive("rope.theta", config.rope.theta);
  if (turned < 2 || turned % 2 != 0 || turned > config.dims.head_dim) {
    fail_size("rope.rotary_dims", turned,
              "an even number from 2 to head_dim = " + std::to_string(config.dims.head_dim));
  }
  zero_or_more("rope.skipped_layers", config.rope.skipped_layers.n);
  check_rope_scaling(config.rope.scaling);
}

}  // namespace imbrex::config_check::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Checks that `config` describes a decoder: every size known and at least 1 (a decoder without
/// layers is a damaged file, not a model), heads a multiple of kv_heads, an even number of rotated
/// elements, choices that there are, scalars finite and in their range. Throws ConfigError with the
/// field and its value; in a constant expression a failure does not compile.
constexpr void check(const Config& config) {
  using namespace config_check;
  for (const DimsField& field : dims_fields) {
    if (config.dims.*field.size == dyn) fail_dynamic(field.name);
    positive(field.name, config.dims.*field.size);
  }
  if (config.dims.heads % config.dims.kv_heads != 0) {
    fail_size("heads", config.dims.heads,
              "a multiple of kv_heads = " + std::to_string(config.dims.kv_heads));
  }
  check_choices(config);
  positive("context", config.context);
  positive("norm_eps", config.norm_eps);
  if (!finite(config.norm_weight_offset)) {
    fail_number("norm_weight_offset", config.norm_weight_offset, "a finite number");
  }
  if (config.norm_bias && config.norm == NormKind::rms_norm) {
    fail_size("norm_bias", index_t{1}, "0 with RMSNorm, which has no bias");
  }
  if (config.positions == Positions::rope) check_rope(config);
  zero_or_more("attention_scale", config.attention_scale);
  zero_or_more("attention_softcap", config.attention_softcap);
  zero_or_more("logit_softcap", config.logit_softcap);
  positive("embedding_scale", config.embedding_scale);
  zero_or_more("window", config.window);
  zero_or_more("global_layers", config.global_layers.n);
}

}  // namespace imbrex::inline IMBREX_ABI
