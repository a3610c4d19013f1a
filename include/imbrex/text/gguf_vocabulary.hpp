// The vocabulary of a GGUF file, model "gpt2" (specification: github.com/ggml-org/ggml,
// docs/gguf.md, "Tokenizer").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/printable.hpp"
#include "imbrex/formats/gguf_file.hpp"
#include "imbrex/text/byte_level.hpp"
#include "imbrex/text/split_expressions.hpp"
#include "imbrex/text/vocabulary.hpp"

namespace imbrex::text::inline IMBREX_ABI {

/// Reads the keys `tokenizer.ggml.*` one by one.
class GgufVocabularyReader {
 public:
  explicit GgufVocabularyReader(const GgufFile& file) : file_(file) {}

  VocabularyParts read() {
    const std::string model = file_.get<std::string>("tokenizer.ggml.model");
    if (model != "gpt2") {
      raise(ConfigError("tokenizer.ggml.model", imbrex::printable(model), "a known tokenizer: gpt2",
                        file_.name()));
    }
    parts_.pattern = file_.get<std::string>("tokenizer.ggml.pre");
    if (!known_split_pattern(parts_.pattern)) {
      raise(ConfigError("tokenizer.ggml.pre", imbrex::printable(parts_.pattern),
                        std::string("a known split pattern: ") + split_pattern_names,
                        file_.name()));
    }
    read_types();
    read_tokens();
    read_merges();
    read_special();
    parts_.chat_template = file_.get_or<std::string>("tokenizer.chat_template", "");
    return std::move(parts_);
  }

 private:
  void read_types() {
    constexpr const char* key = "tokenizer.ggml.token_type";
    for (const std::int32_t type : file_.get<std::vector<std::int32_t>>(key)) {
      // BYTE (6) belongs to other models: here every token is bytes.
      if (type < 1 || type > 5) fail(key, "unknown token type", "1 to 5", std::to_string(type));
      parts_.types.push_back(static_cast<TokenType>(type));
    }
  }

  /// Normal tokens are written in the byte-level alphabet, all others as they are. A "normal" token
  /// with other characters can be made from no text; it is kept, as it is, among the unused.
  void read_tokens() {
    constexpr const char* key = "tokenizer.ggml.tokens";
    const auto texts = file_.get<std::vector<std::string_view>>(key);
    if (texts.empty()) fail(key, "no tokens", "at least 1 token", "none");
    if (texts.size() != parts_.types.size()) {
      fail("tokenizer.ggml.token_type", "token types do not fit the tokens",
           std::to_string(texts.size()) + " types", std::to_string(parts_.types.size()));
    }
    parts_.tokens.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string bytes(texts[i]);
      if (parts_.types[i] == TokenType::normal && !from_byte_level(texts[i], bytes)) {
        parts_.types[i] = TokenType::unused;
      }
      parts_.tokens.push_back(std::move(bytes));
    }
  }

  /// "left right", both in the byte-level alphabet, which has no space.
  void read_merges() {
    constexpr const char* key = "tokenizer.ggml.merges";
    const auto lines = file_.get<std::vector<std::string_view>>(key);
    parts_.merges.reserve(lines.size());
    for (const std::string_view line : lines) {
      const std::size_t space = line.find(' ');
      Merge merge;
      if (space == line.npos || !from_byte_level(line.substr(0, space), merge.left) ||
          !from_byte_level(line.substr(space + 1), merge.right)) {
        fail(key, "bad merge", "two byte-level texts with a space between them",
             "merge " + std::to_string(parts_.merges.size()) + " of " +
                 std::to_string(line.size()) + " bytes");
      }
      parts_.merges.push_back(std::move(merge));
    }
  }

  void read_special() {
    SpecialTokens& s = parts_.special;
    s.begin = read_id("tokenizer.ggml.bos_token_id");
    s.end = read_id("tokenizer.ggml.eos_token_id");
    s.end_of_turn = read_id("tokenizer.ggml.eot_token_id");
    s.end_of_message = read_id("tokenizer.ggml.eom_token_id");
    s.unknown = read_id("tokenizer.ggml.unknown_token_id");
    s.padding = read_id("tokenizer.ggml.padding_token_id");
    // Llama 3 is special: its prompts begin with BOS unless the file says otherwise, and a piece
    // that is a token is that token even where no merges lead to it.
    const bool llama3 = parts_.pattern == "llama-bpe";
    parts_.add_begin = file_.get_or<bool>("tokenizer.ggml.add_bos_token", llama3);
    parts_.ignore_merges = llama3;
  }

  token_t read_id(const char* key) const {
    const GgufValue* value = file_.find(key);
    if (value == nullptr) return no_token;
    const auto id = value->to<token_t>();
    if (!id || *id < 0 || static_cast<std::size_t>(*id) >= parts_.tokens.size()) {
      fail(key, "special token outside the vocabulary",
           "0 to " + std::to_string(parts_.tokens.size() - 1), value->describe());
    }
    return *id;
  }

  [[noreturn]] void fail(const char* key, const char* problem, std::string expected,
                         std::string got) const {
    raise(FormatError({file_.name(), problem, key, -1, std::move(expected), std::move(got)}));
  }

  const GgufFile& file_;
  VocabularyParts parts_;
};

}  // namespace imbrex::text::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// The vocabulary of an open GGUF file; the file may be closed afterwards. Throws ConfigError where
/// the kind of tokenizer or its split pattern is unknown, FormatError where keys are missing, of a
/// wrong type, or do not fit each other.
inline Vocabulary read_vocabulary(const GgufFile& file) {
  return Vocabulary(text::GgufVocabularyReader(file).read(), file.name());
}

}  // namespace imbrex::inline IMBREX_ABI
