// Text to tokens and back, for byte-level byte-pair vocabularies (GGUF's model "gpt2").
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/text/added_tokens.hpp"
#include "imbrex/text/bpe.hpp"
#include "imbrex/text/split_pattern.hpp"
#include "imbrex/text/vocabulary.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What becomes of control tokens and of the unknown token when tokens are turned into text.
enum class SpecialText {
  hidden,  ///< nothing: what a reader of an answer wants
  shown    ///< the name, "<|im_end|>": what a log wants
};

/// A tokenizer: user-defined tokens are taken out of the text first, what is left is cut into
/// pieces by the vocabulary's split pattern, and each piece is encoded by its merges.
///
/// For every string of bytes, UTF-8 or not, decode(encode(text)) == text; a byte that the
/// vocabulary has no token for is an error. Immutable: one object may serve many threads.
class Tokenizer {
 public:
  /// Throws ConfigError where the vocabulary's split pattern is unknown.
  explicit Tokenizer(Vocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)),
        added_(vocabulary_),
        pattern_(SplitPattern::named(vocabulary_.pattern())),
        bpe_(vocabulary_) {
    find_ends();
  }

  /// The vocabulary that it was made with.
  const Vocabulary& vocabulary() const { return vocabulary_; }

  /// The tokens of a text. The names of control tokens ("<|im_end|>") are text like any other, so
  /// text from outside cannot end a turn or begin one. No token is added in front: the tokens of
  /// "" are none. Throws TokenError where the vocabulary has no token for a byte.
  std::vector<token_t> encode(std::string_view text) const { return run(text, false); }

  /// The same, but the names of control tokens become those tokens. For text that the program
  /// itself wrote, never for a user's.
  std::vector<token_t> encode_with_special(std::string_view text) const { return run(text, true); }

  /// `encode`, behind the token that begins a text where the vocabulary asks for one.
  std::vector<token_t> encode_prompt(std::string_view text) const {
    std::vector<token_t> ids = encode(text);
    if (vocabulary_.add_begin()) ids.insert(ids.begin(), vocabulary_.special().begin);
    return ids;
  }

  /// The bytes of one token, valid as long as the tokenizer. They may be part of a character only
  /// (see Utf8Stream). Throws TokenError outside the vocabulary.
  std::string_view piece(token_t id, SpecialText special = SpecialText::hidden) const {
    const TokenType type = vocabulary_.type(id);
    const bool hide = special == SpecialText::hidden &&
                      (type == TokenType::control || type == TokenType::unknown);
    return hide ? std::string_view() : vocabulary_.text(id);
  }

  /// The bytes of several tokens, one after the other. Throws TokenError outside the vocabulary.
  std::string decode(std::span<const token_t> ids,
                     SpecialText special = SpecialText::hidden) const {
    std::string text;
    for (const token_t id : ids) text += piece(id, special);
    return text;
  }

  /// Whether a generation stops at this token: the vocabulary's ends of text, turn and message,
  /// and control tokens that are known by name to be such.
  bool is_end(token_t id) const { return std::binary_search(ends_.begin(), ends_.end(), id); }

  /// The tokens that `is_end` holds for, ascending.
  std::span<const token_t> ends() const { return ends_; }

 private:
  std::vector<token_t> run(std::string_view text, bool special) const {
    if (text.size() > 0x7FFFFFFFu) {
      raise(TokenError("text of " + std::to_string(text.size()) + " bytes: at most 2^31 - 1"));
    }
    std::vector<token_t> ids;
    std::vector<index_t> lengths;
    text::Bpe::Scratch scratch;
    for (const text::Fragment& fragment : added_.partition(text, special)) {
      if (fragment.id != no_token) {
        ids.push_back(fragment.id);
        continue;
      }
      std::string_view rest = text.substr(fragment.begin, fragment.bytes);
      pattern_.split(rest, lengths);
      for (const index_t length : lengths) {
        const std::size_t bytes = static_cast<std::size_t>(length);
        bpe_.encode(rest.substr(0, bytes), scratch, ids);
        rest.remove_prefix(bytes);
      }
    }
    return ids;
  }

  void find_ends() {
    const SpecialTokens& special = vocabulary_.special();
    for (const token_t id : {special.end, special.end_of_turn, special.end_of_message}) {
      if (id != no_token) ends_.push_back(id);
    }
    // Files name one end; models of dialogues use two (the turn's and the text's).
    constexpr std::string_view names[] = {"<|im_end|>",   "<|endoftext|>", "<|end_of_text|>",
                                          "<|eot_id|>",   "<|eom_id|>",    "<|end|>",
                                          "<end_of_turn>"};
    for (token_t id = 0; id < vocabulary_.size(); ++id) {
      if (vocabulary_.type(id) != TokenType::control) continue;
      const std::string_view text = vocabulary_.text(id);
      if (std::find(std::begin(names), std::end(names), text) != std::end(names)) {
        ends_.push_back(id);
      }
    }
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  }

  Vocabulary vocabulary_;
  text::AddedTokens added_;
  SplitPattern pattern_;
  text::Bpe bpe_;
  std::vector<token_t> ends_;
};

}  // namespace imbrex::inline IMBREX_ABI
