#include "imbrex/text/bpe.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "imbrex/base/random.hpp"
#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;
using imbrex::tests::TinyVocabulary;

namespace {

using Ids = std::vector<token_t>;
using Merges = std::vector<std::pair<std::string, std::string>>;

Ids encode(const VocabularyParts& parts, const std::string& piece) {
  const Vocabulary vocabulary(parts);
  const text::Bpe bpe(vocabulary);
  text::Bpe::Scratch scratch;
  Ids ids;
  bpe.encode(piece, scratch, ids);
  return ids;
}

/// The definition, as the paper has it: while some pair has a merge, take the first merge of the
/// list that has a pair, and join its leftmost pair.
std::vector<std::string> by_definition(const std::vector<Merge>& merges, const std::string& piece) {
  std::vector<std::string> symbols;
  for (const char c : piece) symbols.emplace_back(1, c);
  for (bool joined = true; joined;) {
    joined = false;
    for (const Merge& merge : merges) {
      for (std::size_t i = 0; i + 1 < symbols.size() && !joined; ++i) {
        if (symbols[i] != merge.left || symbols[i + 1] != merge.right) continue;
        symbols[i] += symbols[i + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        joined = true;
      }
      if (joined) break;
    }
  }
  return symbols;
}

}  // namespace

TEST_CASE("BPE: the earlier merge wins, then the left one") {
  const TinyVocabulary tiny("gpt-2", {{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"a", "a"}});
  CHECK(encode(tiny.parts, "abc") == Ids{258});  // b c before a b; then a bc
  CHECK(encode(tiny.parts, "ab") == Ids{257});
  CHECK(encode(tiny.parts, "aaa") == Ids{259, 'a'});  // the left pair of two equals
  CHECK(encode(tiny.parts, "aaaa") == Ids{259, 259});
  CHECK(encode(tiny.parts, "").empty());
  CHECK(encode(tiny.parts, "\xFF") == Ids{255});
}

TEST_CASE("BPE: of a merge that stands twice the first counts") {
  TinyVocabulary tiny("gpt-2", {{"a", "b"}, {"b", "c"}});
  tiny.parts.merges.push_back({"a", "b"});
  CHECK(encode(tiny.parts, "abc") == Ids{256, 'c'});
}

TEST_CASE("BPE: ignore_merges takes a piece that is a token whole") {
  // Llama 3: " Vi\u1EC7t" is a token, but the merges lead elsewhere.
  TinyVocabulary tiny("llama-bpe", {{"V", "i"}});
  const token_t whole = tiny.add(" Vi\u1EC7t", TokenType::normal);
  CHECK(encode(tiny.parts, " Vi\u1EC7t") == Ids{' ', 256, 0xE1, 0xBB, 0x87, 't'});
  tiny.parts.ignore_merges = true;
  CHECK(encode(tiny.parts, " Vi\u1EC7t") == Ids{whole});
  CHECK(encode(tiny.parts, "Vi\u1EC7t") == Ids{256, 0xE1, 0xBB, 0x87, 't'});
}

TEST_CASE("BPE: no text becomes a control token, not even a piece that spells one") {
  TinyVocabulary tiny("llama-bpe", {});
  tiny.add("stop", TokenType::control);
  for (const bool ignore_merges : {false, true}) {
    tiny.parts.ignore_merges = ignore_merges;
    CHECK(encode(tiny.parts, "stop") == Ids{'s', 't', 'o', 'p'});
    tiny.parts.merges = {{"s", "t"}, {"o", "p"}, {"st", "op"}};
    CHECK(encode(tiny.parts, "stop") == Ids{'s', 't', 'o', 'p'});
    tiny.parts.merges.clear();
  }
}

TEST_CASE("BPE: a merge whose result is no token leads on, or is spelled byte by byte") {
  TinyVocabulary tiny;
  tiny.parts.merges = {{"a", "b"}, {"ab", "c"}};
  const token_t abc = tiny.add("abc", TokenType::normal);
  CHECK(encode(tiny.parts, "abc") == Ids{abc});
  CHECK(encode(tiny.parts, "abd") == Ids{'a', 'b', 'd'});
}

TEST_CASE("BPE: a byte without a token is an error, never lost") {
  VocabularyParts parts;
  parts.pattern = "gpt-2";
  parts.tokens = {"a", "b", "ab"};
  parts.types.assign(3, TokenType::normal);
  parts.merges = {{"a", "b"}};
  CHECK(encode(parts, "aba") == Ids{2, 0});
  CHECK_THROWS_WITH_AS(encode(parts, "ab\x04"), "the vocabulary has no token for the byte 0x04",
                       TokenError);
}

TEST_CASE("BPE: equals the definition on random merges and texts") {
  Random random(11);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    // Texts of three letters; each merge joins two symbols that exist by then.
    std::vector<std::string> symbols{"a", "b", "c"};
    Merges merges;
    for (std::size_t n = below(12); n > 0; --n) {
      const std::string left = symbols[below(symbols.size())];
      const std::string right = symbols[below(symbols.size())];
      const bool known = std::find(symbols.begin(), symbols.end(), left + right) != symbols.end();
      if (known) continue;
      merges.push_back({left, right});
      symbols.push_back(left + right);
    }
    TinyVocabulary tiny("gpt-2", merges);
    if (round % 2 == 1) {  // in any order: a merge may then wait for a later one
      for (std::size_t i = tiny.parts.merges.size(); i > 1; --i) {
        std::swap(tiny.parts.merges[i - 1], tiny.parts.merges[below(i)]);
      }
    }
    const Vocabulary vocabulary(tiny.parts);
    const text::Bpe bpe(vocabulary);
    text::Bpe::Scratch scratch;
    for (int t = 0; t < 20; ++t) {
      std::string piece;
      for (std::size_t n = below(24); n > 0; --n) piece += "abc"[below(3)];
      Ids ids;
      bpe.encode(piece, scratch, ids);
      std::vector<std::string> got;
      for (const token_t id : ids) got.emplace_back(vocabulary.text(id));
      CAPTURE(piece);
      REQUIRE(got == by_definition(tiny.parts.merges, piece));
    }
  }
}

// The heap and the links are the work: n links, and of each of the n - 1 pairs a candidate, with at
// most two more for each of the at most n - 1 merges.
TEST_CASE("BPE: a piece of half a million bytes, in room that grows as it does") {
  const TinyVocabulary tiny("gpt-2", {{" ", " "}, {"  ", "  "}, {"    ", "    "}});
  const Vocabulary vocabulary(tiny.parts);
  const text::Bpe bpe(vocabulary);
  for (const std::size_t bytes : {std::size_t{1} << 15, (std::size_t{1} << 19) + 7}) {
    text::Bpe::Scratch scratch;
    Ids ids;
    bpe.encode(std::string(bytes, ' '), scratch, ids);
    Ids expected(bytes / 8, 258);  // eight spaces
    if (bytes % 8 == 7) expected.insert(expected.end(), {257, 256, ' '});
    CHECK(ids.size() == expected.size());
    CHECK((ids == expected));
    CHECK(scratch.links.size() == bytes);
    CHECK(scratch.heap.capacity() <= 2 * 3 * bytes);  // a vector may be twice what was in it
  }
}
