// What a tokenizer's file says: the tokens, the merges, and which of them are special.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/token.hpp"

namespace imbrex::inline IMBREX_ABI {

/// "There is no such token."
inline constexpr token_t no_token = -1;

/// What a token is for; the values are those of GGUF's `tokenizer.ggml.token_type`.
enum class TokenType : std::uint8_t {
  normal = 1,        ///< bytes of text
  unknown = 2,       ///< stands for what a vocabulary cannot spell
  control = 3,       ///< structure (begin, end, turn of a dialogue); never made from a user's text
  user_defined = 4,  ///< text kept whole wherever it occurs
  unused = 5,        ///< a row to fill the table up
  byte = 6           ///< one byte
};

/// Two neighbours that are joined; earlier merges come first.
struct Merge {
  std::string left, right;  ///< bytes
};

/// Tokens with a role; `no_token` where the vocabulary has none.
struct SpecialTokens {
  token_t begin = no_token;        ///< BOS
  token_t end = no_token;          ///< EOS
  token_t end_of_turn = no_token;  ///< EOT
  token_t end_of_message = no_token;
  token_t unknown = no_token;
  token_t padding = no_token;
};

/// A byte-pair vocabulary, as it was read.
struct VocabularyParts {
  std::vector<std::string> tokens;  ///< the bytes that each token stands for
  std::vector<TokenType> types;     ///< one for each token
  std::vector<Merge> merges;
  SpecialTokens special;
  std::string pattern;         ///< the name of the split pattern: "smollm", "llama-bpe", ...
  bool add_begin = false;      ///< whether a prompt starts with `special.begin`
  bool ignore_merges = false;  ///< a piece that is a token is that token, whatever the merges say
  std::string chat_template;   ///< as in the file; empty where there is none
};

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// A vocabulary whose parts fit one another. Immutable.
class Vocabulary {
 public:
  /// Takes the parts over. `file` is named in errors. Throws FormatError where there is no token,
  /// the types are not one per token or there is no such type, two normal tokens are the same
  /// bytes, half a merge is empty, or a special token is outside the vocabulary.
  explicit Vocabulary(VocabularyParts parts, const std::string& file = "")
      : parts_(std::move(parts)) {
    check_sizes(file);
    check_types(file);
    check_special(file);
    check_texts(file);
  }

  /// How many tokens there are, and whether `id` is one.
  index_t size() const { return static_cast<index_t>(parts_.tokens.size()); }
  bool contains(token_t id) const { return id >= 0 && id < size(); }

  /// The bytes a token stands for. Throws TokenError outside the vocabulary.
  std::string_view text(token_t id) const { return parts_.tokens[checked(id)]; }
  TokenType type(token_t id) const { return parts_.types[checked(id)]; }

  /// The first token of that type and those bytes, or `no_token`. Looks at every token.
  token_t find(std::string_view text, TokenType type) const {
    for (std::size_t i = 0; i < parts_.tokens.size(); ++i) {
      if (parts_.types[i] == type && parts_.tokens[i] == text) return static_cast<token_t>(i);
    }
    return no_token;
  }

  /// As they were read; see VocabularyParts.
  const std::vector<Merge>& merges() const { return parts_.merges; }
  const SpecialTokens& special() const { return parts_.special; }
  const std::string& pattern() const { return parts_.pattern; }
  bool add_begin() const { return parts_.add_begin; }
  bool ignore_merges() const { return parts_.ignore_merges; }
  const std::string& chat_template() const { return parts_.chat_template; }

 private:
  std::size_t checked(token_t id) const {
    if (!contains(id)) {
      raise(TokenError("token " + std::to_string(id) + ": the vocabulary has the tokens 0 to " +
                       std::to_string(size() - 1)));
    }
    return static_cast<std::size_t>(id);
  }

  void check_sizes(const std::string& file) const {
    const std::size_t tokens = parts_.tokens.size(), types = parts_.types.size();
    if (tokens == 0) fail(file, "the vocabulary is empty", "tokens", "at least 1 token", "none");
    if (tokens > 0x7FFFFFFFu) {
      fail(file, "the vocabulary is too large", "tokens", "at most 2^31 - 1 tokens",
           std::to_string(tokens));
    }
    if (types != tokens) {
      fail(file, "token types do not fit the tokens", "token_type",
           std::to_string(tokens) + " types", std::to_string(types));
    }
  }

  void check_types(const std::string& file) const {
    for (const TokenType type : parts_.types) {
      if (type >= TokenType::normal && type <= TokenType::byte) continue;
      fail(file, "unknown token type", "token_type", "1 to 6",
           std::to_string(static_cast<int>(type)));
    }
  }

  void check_special(const std::string& file) const {
    const SpecialTokens& s = parts_.special;
    const std::pair<const char*, token_t> roles[] = {
        {"bos_token_id", s.begin},       {"eos_token_id", s.end},
        {"eot_token_id", s.end_of_turn}, {"eom_token_id", s.end_of_message},
        {"unknown_token_id", s.unknown}, {"padding_token_id", s.padding}};
    for (const auto& [role, id] : roles) {
      if (id == no_token || contains(id)) continue;
      fail(file, "special token outside the vocabulary", role, "0 to " + std::to_string(size() - 1),
           std::to_string(id));
    }
    if (parts_.add_begin && s.begin == no_token) {
      fail(file, "prompts start with a token that is not named", "bos_token_id", "a token", "none");
    }
  }

  void check_texts(const std::string& file) const {
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < parts_.tokens.size(); ++i) {
      const std::string& text = parts_.tokens[i];
      if (parts_.types[i] != TokenType::normal || text.empty()) continue;
      if (!seen.insert(text).second) {
        fail(file, "two tokens with one text", "tokens", "each text once",
             "token " + std::to_string(i) + " like an earlier one");
      }
    }
    for (std::size_t i = 0; i < parts_.merges.size(); ++i) {
      if (!parts_.merges[i].left.empty() && !parts_.merges[i].right.empty()) continue;
      fail(file, "half a merge is empty", "merges", "two texts", "merge " + std::to_string(i));
    }
  }

  [[noreturn]] static void fail(const std::string& file, const char* problem, const char* key,
                                std::string expected, std::string got) {
    raise(FormatError({file, problem, std::string("tokenizer.ggml.") + key, -1, std::move(expected),
                       std::move(got)}));
  }

  VocabularyParts parts_;
};

}  // namespace imbrex::inline IMBREX_ABI
