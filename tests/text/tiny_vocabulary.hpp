// A vocabulary small enough to work out by hand: the 256 bytes, and what a test adds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "imbrex/text/vocabulary.hpp"

namespace imbrex::tests {

/// Token i is the byte i; the merges' results follow, in order, then further tokens.
struct TinyVocabulary {
  VocabularyParts parts;

  explicit TinyVocabulary(std::string pattern = "gpt-2",
                          std::vector<std::pair<std::string, std::string>> merges = {}) {
    for (int byte = 0; byte < 256; ++byte) {
      add(std::string(1, static_cast<char>(static_cast<unsigned char>(byte))), TokenType::normal);
    }
    for (auto& [left, right] : merges) {
      add(left + right, TokenType::normal);
      parts.merges.push_back({left, right});
    }
    parts.pattern = std::move(pattern);
  }

  token_t add(std::string text, TokenType type) {
    parts.tokens.push_back(std::move(text));
    parts.types.push_back(type);
    return static_cast<token_t>(parts.tokens.size() - 1);
  }
};

}  // namespace imbrex::tests
