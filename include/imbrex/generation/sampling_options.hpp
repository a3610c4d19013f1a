// How the next token is chosen.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The settings of a Sampler; as they stand, all of the model's distribution is sampled.
/// They take effect in this order.
struct SamplingOptions {
  /// Logits of tokens seen lately are divided by it where positive, multiplied where not, once per
  /// distinct token (Keskar et al. 2019, "CTRL", section 4.1). 1: off. Above 0.
  double repetition_penalty = 1;
  /// Logits are divided by it. 0: the most likely token, always. 0 or more.
  double temperature = 1;
  /// Only the k most likely tokens stay (Fan, Lewis, Dauphin 2018). 0: off.
  index_t top_k = 0;
  /// Only the most likely tokens stay that are needed to reach this share of the probability
  /// (Holtzman et al. 2020): a token stays while those before it sum to less. 1: off. 0 to 1.
  double top_p = 1;
  /// Only tokens at least this fraction as likely as the most likely one stay (Nguyen et al.
  /// 2024). 0: off. 0 to 1.
  double min_p = 0;
};

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Throws ConfigError where an option is outside its range.
inline void check(const SamplingOptions& o) {
  const auto require = [](bool holds, const char* key, double value, const char* expected) {
    if (!holds) raise(ConfigError(key, std::to_string(value), expected));
  };
  // Written so that NaN, which compares false, is refused.
  require(o.repetition_penalty >= (std::numeric_limits<float>::min)() &&
              o.repetition_penalty <= (std::numeric_limits<float>::max)(),
          "repetition_penalty", o.repetition_penalty, "a number above 0");
  require(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature,
          "a number, 0 or more");
  if (o.top_k < 0) raise(ConfigError("top_k", std::to_string(o.top_k), "0 (off) or more"));
  require(o.top_p >= 0 && o.top_p <= 1, "top_p", o.top_p, "0 to 1");
  require(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "0 to 1");
}

}  // namespace imbrex::inline IMBREX_ABI
