// Cutting text into the pieces that are tokenized on their own; PCRE2 does the matching.
#pragma once

// Names without a width would depend on what the user's program defines; this library spells the
// width in every name. (Where nothing is defined, 8 is what most programs want.)
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/text/split_expressions.hpp"
#include "imbrex/text/utf8.hpp"

namespace imbrex::text::inline IMBREX_ABI {

struct FreeCode {
  void operator()(pcre2_code_8* code) const { pcre2_code_free_8(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data_8* data) const { pcre2_match_data_free_8(data); }
};
struct FreeContext {
  void operator()(pcre2_match_context_8* context) const { pcre2_match_context_free_8(context); }
};

inline std::string pcre2_message(int code) {
  unsigned char text[160] = {};
  pcre2_get_error_message_8(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// Text with every byte that is no part of a character replaced by `~`: a symbol, like U+FFFD in
/// every class that the patterns know, and one byte long, so that positions stay.
inline std::string replace_invalid(std::string_view text) {
  std::string valid(text);
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Character c = read_utf8(text.substr(i));
    if (c.status == Utf8Status::whole) {
      i += static_cast<std::size_t>(c.bytes);
    } else {
      valid[i++] = '~';
    }
  }
  return valid;
}

inline bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character c = read_utf8(text);
    if (c.status != Utf8Status::whole) return false;
    text.remove_prefix(static_cast<std::size_t>(c.bytes));
  }
  return true;
}

}  // namespace imbrex::text::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Cuts text into pieces: what an expression matches is a piece, and so is what lies between two
/// matches; the next expression cuts those pieces further, seeing one at a time. The pieces are
/// the whole text, in order, also where it is not UTF-8: a byte that is part of no character is
/// cut like U+FFFD (the replacement character) and kept as it is.
///
/// Immutable; one object may serve many threads.
class SplitPattern {
 public:
  /// Backtracking steps that a match may take per byte of text. The known patterns take at most
  /// one, runs of a hundred thousand spaces or line feeds included.
  static constexpr std::uint32_t default_steps_per_byte = 64;

  /// One of the patterns that `split_expressions` knows. Throws ConfigError for any other name.
  static SplitPattern named(const std::string& name) {
    return SplitPattern(text::split_expressions(name));
  }

  /// PCRE2 expressions, applied one after the other, with Unicode properties. Throws ConfigError
  /// where one does not compile.
  explicit SplitPattern(const std::vector<std::string>& expressions,
                        std::uint32_t steps_per_byte = default_steps_per_byte)
      : steps_per_byte_(steps_per_byte) {
    for (const std::string& expression : expressions) compile(expression);
  }

  /// Replaces `lengths` by the pieces' lengths in bytes. Throws TokenError where an expression
  /// backtracks more than its limit.
  void split(std::string_view text, std::vector<index_t>& lengths) const {
    lengths.clear();
    if (text.empty()) return;
    std::string replaced;
    if (!text::is_valid_utf8(text)) {
      replaced = text::replace_invalid(text);
      text = replaced;
    }
    lengths.push_back(static_cast<index_t>(text.size()));
    std::vector<index_t> coarse;
    for (const Code& code : codes_) {
      coarse.swap(lengths);
      lengths.clear();
      refine(code, text, coarse, lengths);
    }
  }

 private:
  using Code = std::unique_ptr<pcre2_code_8, text::FreeCode>;

  void compile(const std::string& expression) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    Code code(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(expression.data()), expression.size(),
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    if (code == nullptr) {
      raise(ConfigError("split pattern", expression,
                        "a regular expression (" + text::pcre2_message(error) + " at byte " +
                            std::to_string(offset) + ")"));
    }
    // Where the system forbids writable code pages this fails, and the interpreter matches.
    pcre2_jit_compile_8(code.get(), PCRE2_JIT_COMPLETE);
    codes_.push_back(std::move(code));
  }

  /// Cuts pieces of `coarse` lengths with one expression.
  void refine(const Code& code, std::string_view text, const std::vector<index_t>& coarse,
              std::vector<index_t>& lengths) const {
    const std::unique_ptr<pcre2_match_data_8, text::FreeMatch> match(
        pcre2_match_data_create_from_pattern_8(code.get(), nullptr));
    const std::unique_ptr<pcre2_match_context_8, text::FreeContext> context(
        pcre2_match_context_create_8(nullptr));
    if (match == nullptr || context == nullptr) raise(TokenError("split pattern: out of memory"));
    // PCRE2's own limit, a constant, would fail on a long run of spaces.
    const std::uint64_t steps = (text.size() + 64) * std::uint64_t{steps_per_byte_};
    pcre2_set_match_limit_8(context.get(),
                            steps < 0xFFFFFFFFu ? static_cast<std::uint32_t>(steps) : 0xFFFFFFFFu);
    for (const index_t length : coarse) {
      const std::size_t n = static_cast<std::size_t>(length);
      cut(code, text.substr(0, n), match.get(), context.get(), lengths);
      text.remove_prefix(n);
    }
  }

  /// Cuts one piece: matches, and what lies between them.
  static void cut(const Code& code, std::string_view piece, pcre2_match_data_8* match,
                  pcre2_match_context_8* context, std::vector<index_t>& lengths) {
    std::size_t done = 0, from = 0;
    while (from < piece.size() && find(code, piece, from, match, context)) {
      const PCRE2_SIZE* range = pcre2_get_ovector_pointer_8(match);
      if (range[1] == range[0]) {  // an empty match cuts nothing: look on behind the character
        from = range[1] + 1;
        while (from < piece.size() && (static_cast<unsigned char>(piece[from]) & 0xC0) == 0x80) {
          ++from;
        }
        continue;
      }
      if (range[0] > done) lengths.push_back(static_cast<index_t>(range[0] - done));
      lengths.push_back(static_cast<index_t>(range[1] - range[0]));
      done = from = range[1];
    }
    if (done < piece.size()) lengths.push_back(static_cast<index_t>(piece.size() - done));
  }

  /// Whether there is a match at or behind `from`. Anything but yes and no is an error.
  static bool find(const Code& code, std::string_view piece, std::size_t from,
                   pcre2_match_data_8* match, pcre2_match_context_8* context) {
    const auto run = [&](std::uint32_t options) {
      return pcre2_match_8(code.get(), reinterpret_cast<PCRE2_SPTR8>(piece.data()), piece.size(),
                           from, options, match, context);
    };
    int result = run(PCRE2_NO_UTF_CHECK);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = run(PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) return false;
    if (result < 0) {
      raise(TokenError("split pattern: " + text::pcre2_message(result) + " in a piece of " +
                       std::to_string(piece.size()) + " bytes"));
    }
    return true;
  }

  std::uint32_t steps_per_byte_;
  std::vector<Code> codes_;
};

}  // namespace imbrex::inline IMBREX_ABI
