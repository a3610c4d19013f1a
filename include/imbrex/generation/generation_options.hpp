// What a generation is asked for, and how it ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/token.hpp"
#include "imbrex/generation/sampling_options.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The settings of one generation.
struct GenerationOptions {
  index_t max_tokens = 256;          ///< at most so many tokens; 0 generates nothing
  SamplingOptions sampling{};        ///< how tokens are chosen
  std::uint64_t seed = 0;            ///< one seed, one text
  index_t penalty_window = 64;       ///< tokens that the repetition penalty looks back on; 0: none
  std::vector<std::string> stops{};  ///< texts at which to stop; they are not delivered
};

/// Why a generation ended.
enum class StopReason : std::uint8_t {
  end_token,  ///< the model ended its text; the token is not in the session
  stop_text,  ///< one of the stop texts came; its tokens are in the session
  length,     ///< max_tokens were generated
  callback    ///< the callback returned false
};

/// The name of a reason, in words.
constexpr const char* name(StopReason reason) {
  constexpr const char* names[] = {"end token", "stop text", "length", "callback"};
  const auto number = static_cast<std::size_t>(reason);
  return number < sizeof names / sizeof names[0] ? names[number] : "unknown";
}

/// What a generation has made.
struct GenerationResult {
  std::vector<token_t> tokens;  ///< all of them are in the session
  StopReason reason = StopReason::length;
};

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Throws ConfigError where an option is outside its range.
inline void check(const GenerationOptions& o) {
  check(o.sampling);
  const auto require_count = [](const char* key, index_t value) {
    if (value < 0) raise(ConfigError(key, std::to_string(value), "0 or more"));
  };
  require_count("max_tokens", o.max_tokens);
  require_count("penalty_window", o.penalty_window);
  for (const std::string& stop : o.stops) {
    if (stop.empty()) raise(ConfigError("stop", "\"\"", "a text of one byte or more"));
  }
}

}  // namespace imbrex::inline IMBREX_ABI
