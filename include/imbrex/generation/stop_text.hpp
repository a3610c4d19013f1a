// Stopping at texts, in a stream that may cut them anywhere.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Passes a stream of text on up to the first of some stop texts: the one that is complete first
/// (of several that end at one place the longest), so that it does not matter where the stream is
/// cut. What could still become a stop text is held back until that is decided.
class StopText {
 public:
  /// Throws ConfigError where a stop text is empty: it would stop at once.
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
    for (const std::string& stop : stops_) {
      if (stop.empty()) raise(ConfigError("stop", "\"\"", "a text of one byte or more"));
    }
    held_.reserve(1024);  // most streams fit: no allocation on the way
  }

  /// Takes text in; returns what is certainly before any stop text, valid until the next call.
  std::string_view feed(std::string_view text) {
    held_.erase(0, passed_);
    passed_ = 0;
    if (found_) return {};
    held_.append(text);
    const std::size_t begin = find_stop();
    found_ = begin != held_.npos;
    passed_ = found_ ? begin : held_.size() - undecided();
    return std::string_view(held_).substr(0, passed_);
  }

  /// The end of the stream: returns what was held back, or nothing behind a stop text.
  std::string_view flush() {
    held_.erase(0, passed_);
    passed_ = found_ ? 0 : held_.size();
    return std::string_view(held_).substr(0, passed_);
  }

  /// Whether a stop text has come.
  bool found() const { return found_; }

 private:
  /// Where the stop text begins that is complete first; npos where none is.
  std::size_t find_stop() const {
    std::size_t begin = held_.npos, end = held_.npos;
    for (const std::string& stop : stops_) {
      const std::size_t at = held_.find(stop);
      if (at == held_.npos) continue;
      if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
        begin = at;
        end = at + stop.size();
      }
    }
    return begin;
  }

  /// The length of the longest end of what is held that begins a stop text.
  std::size_t undecided() const {
    std::size_t longest = 0;
    for (const std::string& stop : stops_) {
      for (std::size_t n = (std::min)(stop.size() - 1, held_.size()); n > longest; --n) {
        if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, n))) longest = n;
      }
    }
    return longest;
  }

  std::vector<std::string> stops_;
  std::string held_;
  std::size_t passed_ = 0;  // bytes at the front of held_ that were returned
  bool found_ = false;
};

}  // namespace imbrex::inline IMBREX_ABI
