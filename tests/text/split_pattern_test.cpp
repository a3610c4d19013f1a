#include "imbrex/text/split_pattern.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace imbrex;

namespace {

using Pieces = std::vector<std::string>;

Pieces split(const SplitPattern& pattern, std::string_view text) {
  std::vector<index_t> lengths;
  pattern.split(text, lengths);
  Pieces pieces;
  for (const index_t n : lengths) {
    pieces.emplace_back(text.substr(0, static_cast<std::size_t>(n)));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  CHECK(text.empty());
  return pieces;
}

Pieces split(const char* name, std::string_view text) {
  return split(SplitPattern::named(name), text);
}

}  // namespace

// The pieces below follow from the published expressions by hand.
TEST_CASE("split pattern gpt-2") {
  CHECK(split("gpt-2", "Hello world's 123 456!?") ==
        Pieces{"Hello", " world", "'s", " 123", " 456", "!?"});
  CHECK(split("gpt-2", "HE'S") == Pieces{"HE", "'", "S"});  // contractions in lower case only
  CHECK(split("gpt-2", "a   b") == Pieces{"a", "  ", " b"});
  CHECK(split("gpt-2", "a\n\nb") == Pieces{"a", "\n", "\n", "b"});  // \s+(?!\S), then one alone
  CHECK(split("gpt-2", "a  ") == Pieces{"a", "  "});
  CHECK(split("gpt-2", "").empty());
}

TEST_CASE("split pattern llama-bpe") {
  CHECK(split("llama-bpe", "Hello world's 12345") ==
        Pieces{"Hello", " world", "'s", " ", "123", "45"});
  CHECK(split("llama-bpe", "HE'Ll") == Pieces{"HE", "'Ll"});
  CHECK(split("llama-bpe", "a\n\nb") == Pieces{"a", "\n\n", "b"});
  CHECK(split("llama-bpe", "x.\n\ny") == Pieces{"x", ".\n\n", "y"});
  CHECK(split("llama-bpe", "(foo)") == Pieces{"(foo", ")"});
  CHECK(split("llama-bpe", "a  \n  b") == Pieces{"a", "  \n", " ", " b"});
}

TEST_CASE("split pattern qwen2: Llama 3's with single digits") {
  CHECK(split("qwen2", "ab 12345") == Pieces{"ab", " ", "1", "2", "3", "4", "5"});
  CHECK(split("qwen2", "DON'T\n\n") == Pieces{"DON", "'T", "\n\n"});
}

TEST_CASE("split pattern smollm: digits first, and nothing looks past them") {
  CHECK(split("smollm", "ab 123c") == Pieces{"ab", " ", "1", "2", "3", "c"});
  // Behind the last space stands a digit, which the second expression does not see: both spaces
  // are one piece, where gpt-2 leaves one to the number.
  CHECK(split("smollm", "a  1") == Pieces{"a", "  ", "1"});
  CHECK(split("gpt-2", "a  1") == Pieces{"a", " ", " 1"});
}

TEST_CASE("split pattern: letters, numbers and spaces beyond ASCII") {
  CHECK(split("gpt-2", "\u4E2D\u6587\uFF0C\u2167") == Pieces{"\u4E2D\u6587", "\uFF0C", "\u2167"});
  // No-break space and ideographic space are spaces; U+180E, a format character, is not.
  CHECK(split("llama-bpe", "\u3000\u00A0\n") == Pieces{"\u3000\u00A0\n"});
  CHECK(split("llama-bpe", "!\u180E") == Pieces{"!\u180E"});
  // A caseless match would take the long s for an s.
  CHECK(split("llama-bpe", "!'\u017F") == Pieces{"!'", "\u017F"});
  // Letters and numbers of Unicode 15.0 and 15.1: Kawi, an ideograph of extension I.
  CHECK(split("gpt-2", "\U00011F04a") == Pieces{"\U00011F04a"});
  CHECK(split("gpt-2", "\U0002EBF0a") == Pieces{"\U0002EBF0a"});
  CHECK(split("gpt-2",
              "\U00011F50"
              "1") == Pieces{"\U00011F50"
                             "1"});
}

TEST_CASE("split pattern: invalid bytes are cut like U+FFFD, and kept") {
  for (const char* name : {"gpt-2", "llama-bpe", "qwen2", "smollm"}) {
    for (const char* bad : {"\xFF", "\x80", "\xC3", "\xF0"}) {
      for (const char* frame : {"a@b", " @", "1@2", "@\n\n", "'@s", "@@ @", "\u00E9@\u00E9"}) {
        std::string with_bad, with_mark;
        for (const char* c = frame; *c != 0; ++c) {
          with_bad += *c == '@' ? bad : std::string(1, *c);
          with_mark += *c == '@' ? "\uFFFD" : std::string(1, *c);
        }
        Pieces expected = split(name, with_mark);
        for (std::string& piece : expected) {
          for (std::size_t at; (at = piece.find("\uFFFD")) != piece.npos;)
            piece.replace(at, 3, bad);
        }
        CAPTURE(name);
        CAPTURE(frame);
        CHECK(split(name, with_bad) == expected);
      }
    }
  }
}

TEST_CASE("split pattern: an unknown name says which are known") {
  CHECK_THROWS_WITH_AS(SplitPattern::named("default"),
                       "tokenizer.ggml.pre = default: expected a known split pattern: gpt-2, "
                       "llama-bpe, qwen2, smollm",
                       ConfigError);
}

TEST_CASE("split pattern: an expression that does not compile") {
  CHECK_THROWS_AS(SplitPattern({"a("}), ConfigError);
}

TEST_CASE("split pattern: what no expression matches is a piece, and empty matches cut nothing") {
  CHECK(split(SplitPattern({"b+"}), "aabbcc") == Pieces{"aa", "bb", "cc"});
  CHECK(split(SplitPattern({"b*"}), "a\u00E9bc") == Pieces{"a\u00E9", "b", "c"});
  CHECK(split(SplitPattern({"b+", "c"}), "acb") == Pieces{"a", "c", "b"});
  CHECK(split(SplitPattern(Pieces{}), "abc") == Pieces{"abc"});
}

TEST_CASE("split pattern: too much backtracking is an error, never a result") {
  const SplitPattern hopeless({"(a|aa)+$"});  // doubles its work with every a
  std::vector<index_t> lengths;
  CHECK_THROWS_AS(hopeless.split(std::string(200, 'a') + "b", lengths), TokenError);
}

TEST_CASE("split pattern: a long run meets no limit") {
  const std::string run(3000000, ' ');
  CHECK(split("llama-bpe", run + "x") == Pieces{run.substr(1), " x"});
  CHECK(split("smollm", run + "\n" + run).size() == 1);
}
