#include "imbrex/text/added_tokens.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "imbrex/base/random.hpp"
#include "tests/support/allocations.hpp"
#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;
using imbrex::tests::TinyVocabulary;

namespace {

/// "[token]" and plain text in turn.
std::string cut(const Vocabulary& vocabulary, const std::string& text, bool special = false) {
  const text::AddedTokens added(vocabulary);
  std::string shown;
  for (const text::Fragment& f : added.partition(text, special)) {
    if (f.id == no_token) {
      CHECK(f.bytes > 0);
      shown += text.substr(f.begin, f.bytes);
    } else {
      CHECK(text.substr(f.begin, f.bytes) == vocabulary.text(f.id));
      shown.append("[").append(vocabulary.text(f.id)).append("]");
    }
  }
  return shown;
}

Vocabulary with(std::vector<std::string> user_defined, std::vector<std::string> control = {}) {
  TinyVocabulary tiny;
  for (std::string& text : user_defined) tiny.add(text, TokenType::user_defined);
  for (std::string& text : control) tiny.add(text, TokenType::control);
  return Vocabulary(tiny.parts);
}

/// The definition: for each token, longest first, search what is left from left to right.
std::string by_definition(const std::vector<std::string>& tokens, const std::string& text) {
  std::vector<std::pair<std::string, std::size_t>> order;  // and the id
  for (const std::string& token : tokens) order.emplace_back(token, order.size());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.second < b.second;
  });
  struct Part {
    std::string text;
    bool token;
  };
  std::vector<Part> parts{{text, false}};
  for (const auto& [token, id] : order) {
    std::vector<Part> next;
    for (const Part& part : parts) {
      if (part.token) {
        next.push_back(part);
        continue;
      }
      std::size_t done = 0;
      for (std::size_t at; (at = part.text.find(token, done)) != token.npos;) {
        next.push_back({part.text.substr(done, at - done), false});
        next.push_back({token, true});
        done = at + token.size();
      }
      next.push_back({part.text.substr(done), false});
    }
    parts = next;
  }
  std::string shown;
  for (const Part& part : parts) shown += part.token ? "[" + part.text + "]" : part.text;
  return shown;
}

}  // namespace

TEST_CASE("added tokens: the longest wins") {
  const Vocabulary v = with({"<tool>", "<tool_call>", "<to"});
  CHECK(cut(v, "a<tool_call>b") == "a[<tool_call>]b");
  CHECK(cut(v, "<tool><tool_call><tool") == "[<tool>][<tool_call>][<to]ol");
  CHECK(cut(v, "<t") == "<t");
  CHECK(cut(v, "") == "");
}

TEST_CASE("added tokens: longest first wherever it stands, then the leftmost") {
  CHECK(cut(with({"ab", "bcd"}), "abcd") == "a[bcd]");
  CHECK(cut(with({"aa"}), "aaaaa") == "[aa][aa]a");
}

TEST_CASE("added tokens: control tokens are text unless asked for") {
  const Vocabulary v = with({"<u>"}, {"<|im_end|>", "<u>x"});
  CHECK(cut(v, "a<|im_end|><u>x") == "a<|im_end|>[<u>]x");
  CHECK(cut(v, "a<|im_end|><u>x", true) == "a[<|im_end|>][<u>x]");
}

TEST_CASE("added tokens: an empty token is found nowhere") {
  CHECK(cut(with({""}, {""}), "ab", true) == "ab");
}

TEST_CASE("added tokens: equals the definition on random tokens and texts") {
  Random random(3);
  const auto word = [&](std::uint32_t most) {
    std::string text;
    for (std::uint32_t n = 1 + random() % most; n > 0; --n) text += "ab\xFF"[random() % 3];
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> tokens;
    for (std::uint32_t n = random() % 12; n > 0; --n) {
      std::string token = word(6);
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
    }
    const std::string text = word(40);
    CAPTURE(text);
    REQUIRE(cut(with(tokens), text) == by_definition(tokens, text));
  }
}

TEST_CASE("added tokens: of equal texts the lowest id that is asked for") {
  TinyVocabulary tiny;
  tiny.add("<x>", TokenType::control);
  tiny.add("<x>", TokenType::user_defined);
  const Vocabulary v(tiny.parts);
  const text::AddedTokens added(v);
  CHECK(added.partition("<x>", true).at(0).id == v.find("<x>", TokenType::control));
  CHECK(added.partition("<x>", false).at(0).id == v.find("<x>", TokenType::user_defined));
}

// 2000 tokens stand at nearly every one of 30000 places. 24 bytes for each pair were 1.4 GB; what
// waits is one candidate a place.
TEST_CASE("added tokens: memory goes with the text, not with the tokens that overlap in it") {
  std::vector<std::string> tokens;
  for (std::size_t n = 1; n <= 2000; ++n) tokens.emplace_back(n, 'a');
  const Vocabulary v = with(tokens);
  const text::AddedTokens added(v);
  const std::string line(30001, 'a');
  tests::start_counting();
  const std::vector<text::Fragment> fragments = added.partition(line, false);
  if (tests::counts_allocations) CHECK(tests::allocations.peak < 4'000'000);
  REQUIRE(fragments.size() == 16);  // 15 of 2000 bytes, and one
  CHECK(fragments[14].bytes == 2000);
  CHECK(fragments[15].bytes == 1);
}
