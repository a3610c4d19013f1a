// The expressions by which the families of byte-level vocabularies cut text into pieces before
// any merge: no token ever crosses the end of a piece.
//
// Sources: GPT-2 (Radford et al. 2019), Llama 3 and Qwen2 in the pre_tokenizer entries of their
// tokenizer.json; SmolLM and StarCoder cut off every digit first, then apply GPT-2's expression.
//
// Three choices make them mean the same everywhere:
// - `\s` is written out as Unicode's White_Space property: PCRE2's own `\s` also takes U+180E.
// - Contractions are written letter by letter ('[sS]): a caseless match of PCRE2 also takes the
//   long s, U+017F.
// - Letters and numbers that Unicode 15.0 and 15.1 added (DerivedGeneralCategory.txt) are listed:
//   PCRE2 10.42 knows Unicode 14. A PCRE2 with a later Unicode knows later letters too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/printable.hpp"

namespace imbrex::text::inline IMBREX_ABI {

/// Parts of character classes, to stand inside brackets.
inline constexpr const char* space_class =
    "\\t-\\r "
    "\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
inline constexpr const char* letter_class =
    "\\p{L}\\x{1123F}-\\x{11240}\\x{11F02}\\x{11F04}-\\x{11F10}\\x{11F12}-\\x{11F33}\\x{1342F}"
    "\\x{13441}-\\x{13446}\\x{1B132}\\x{1B155}\\x{1DF25}-\\x{1DF2A}\\x{1E030}-\\x{1E06D}"
    "\\x{1E4D0}-\\x{1E4EB}\\x{2B739}\\x{2EBF0}-\\x{2EE5D}\\x{31350}-\\x{323AF}";
inline constexpr const char* number_class =
    "\\p{N}\\x{11F50}-\\x{11F59}\\x{1D2C0}-\\x{1D2D3}\\x{1E4F0}-\\x{1E4F9}";

/// Writes an expression out: S, L and N between angle brackets become the classes above.
inline std::string expand_classes(std::string_view expression) {
  std::string text;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const std::string_view key = expression.substr(i, 3);
    const char* part = key == "<S>"   ? space_class
                       : key == "<L>" ? letter_class
                       : key == "<N>" ? number_class
                                      : nullptr;
    if (part == nullptr) {
      text += expression[i];
    } else {
      text += part;
      i += 2;
    }
  }
  return text;
}

inline constexpr const char* gpt2_expression =
    "'s|'t|'re|'ve|'m|'ll|'d| ?[<L>]+| ?[<N>]+| ?[^<S><L><N>]+|[<S>]+(?![^<S>])";
inline constexpr const char* digit_expression = "[<N>]";
inline constexpr const char* llama3_expression =
    "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^\\r\\n<L><N>]?[<L>]+|[<N>]{1,3}"
    "| ?[^<S><L><N>]+[\\r\\n]*|[<S>]*[\\r\\n]+|[<S>]+(?![^<S>])|[<S>]+";
inline constexpr const char* qwen2_expression =
    "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^\\r\\n<L><N>]?[<L>]+|[<N>]"
    "| ?[^<S><L><N>]+[\\r\\n]*|[<S>]*[\\r\\n]+|[<S>]+(?![^<S>])|[<S>]+";

/// The names of the patterns, as `tokenizer.ggml.pre` spells them.
inline constexpr const char* split_pattern_names = "gpt-2, llama-bpe, qwen2, smollm";

inline bool known_split_pattern(std::string_view name) {
  return name == "gpt-2" || name == "llama-bpe" || name == "qwen2" || name == "smollm";
}

/// The expressions of a named pattern, applied one after the other. Throws ConfigError where the
/// name is unknown.
inline std::vector<std::string> split_expressions(const std::string& name) {
  if (name == "gpt-2") return {expand_classes(gpt2_expression)};
  if (name == "llama-bpe") return {expand_classes(llama3_expression)};
  if (name == "qwen2") return {expand_classes(qwen2_expression)};
  if (name == "smollm") return {expand_classes(digit_expression), expand_classes(gpt2_expression)};
  raise(ConfigError("tokenizer.ggml.pre", imbrex::printable(name),
                    std::string("a known split pattern: ") + split_pattern_names));
}

}  // namespace imbrex::text::inline IMBREX_ABI
