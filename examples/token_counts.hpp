// Numbers of tokens, as the words of a command line.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace examples {

/// 1 to 32768 tokens: their scores are 4 GiB at most. Throws UsageError.
inline imbrex::index_t token_count(std::string_view word) {
  constexpr imbrex::index_t most = 32768;
  imbrex::index_t tokens = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), tokens);
  if (error != std::errc() || end != word.data() + word.size() || tokens < 1 || tokens > most) {
    imbrex::raise(UsageError("expected 1 to " + std::to_string(most) + " tokens, got \"" +
                             imbrex::printable(word) + "\": see --help"));
  }
  return tokens;
}

/// All the words, or `usual` where there is none; empty where help is asked for. Throws UsageError.
inline std::vector<imbrex::index_t> token_counts(int argc, char** argv,
                                                 const std::vector<imbrex::index_t>& usual) {
  std::vector<imbrex::index_t> counts;
  CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view word = line.take();
    if (asks_for_help(word)) return {};
    counts.push_back(token_count(word));
  }
  return counts.empty() ? usual : counts;
}

}  // namespace examples
