// How long generation took, and how much it read.
#pragma once

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What one regime has done: prompts (many tokens at once) or decoding (one at a time).
struct RunStatistics {
  index_t tokens = 0;
  double seconds = 0;

  /// 0 where nothing was timed.
  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  }
};

/// Of a session, since it began.
struct SessionStatistics {
  RunStatistics prompt, decode;
  index_t bytes_per_token = 0;  ///< of weights, read once for each decoded token

  /// Bytes of weights read a second while decoding.
  double decode_bandwidth() const {
    return decode.tokens_per_second() * static_cast<double>(bytes_per_token);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
