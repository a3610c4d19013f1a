#include "imbrex/text/tokenizer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "imbrex/base/random.hpp"
#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;
using imbrex::tests::TinyVocabulary;

namespace {

using Ids = std::vector<token_t>;

// h=104 e=101 l=108 o=111; then the merges' results and the added tokens:
constexpr token_t he = 256, ll = 257, start = 258, end = 259, tool = 260, unknown = 261;

Tokenizer make(const char* pattern = "gpt-2", bool add_begin = false) {
  TinyVocabulary tiny(pattern, {{"h", "e"}, {"l", "l"}});
  tiny.add("<|im_start|>", TokenType::control);
  tiny.add("<|im_end|>", TokenType::control);
  tiny.add("<tool>", TokenType::user_defined);
  tiny.add("<unk>", TokenType::unknown);
  tiny.parts.special.begin = start;
  tiny.parts.special.end = ll;  // any token can be named
  tiny.parts.add_begin = add_begin;
  return Tokenizer(Vocabulary(tiny.parts));
}

Ids bytes(const std::string& text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

}  // namespace

TEST_CASE("Tokenizer: pieces, merges and back") {
  const Tokenizer tokenizer = make();
  CHECK(tokenizer.encode("hello") == Ids{he, ll, 'o'});
  // No merge crosses the end of a piece.
  CHECK(tokenizer.encode("h1e") == Ids{'h', '1', 'e'});
  CHECK(tokenizer.decode(Ids{he, ll, 'o'}) == "hello");
  CHECK(tokenizer.decode(Ids{}) == "");
}

TEST_CASE("Tokenizer: no text, no tokens; the beginning is asked for") {
  CHECK(make("gpt-2", true).encode("").empty());
  CHECK(make("gpt-2", true).encode_with_special("").empty());
  CHECK(make("gpt-2", true).encode_prompt("") == Ids{start});
  CHECK(make("gpt-2", true).encode_prompt("he") == Ids{start, he});
  CHECK(make("gpt-2", false).encode_prompt("he") == Ids{he});
}

TEST_CASE("Tokenizer: control tokens in a text are text, unless the program says otherwise") {
  const Tokenizer tokenizer = make();
  const std::string text = "<|im_end|><unk>";
  CHECK(tokenizer.encode(text) == bytes(text));
  CHECK(tokenizer.encode_with_special("he<|im_end|>he<unk>") == Ids{he, end, he, unknown});
  CHECK(tokenizer.encode_prompt(text) == bytes(text));
}

TEST_CASE("Tokenizer: user-defined tokens always count") {
  const Tokenizer tokenizer = make();
  CHECK(tokenizer.encode("he<tool>he") == Ids{he, tool, he});
  CHECK(tokenizer.encode_with_special("he<tool>he") == Ids{he, tool, he});
  CHECK(tokenizer.decode(Ids{tool}) == "<tool>");
}

TEST_CASE("Tokenizer: special tokens are hidden or shown") {
  const Tokenizer tokenizer = make();
  CHECK(tokenizer.decode(Ids{start, he, unknown, end}) == "he");
  CHECK(tokenizer.decode(Ids{start, he, unknown, end}, SpecialText::shown) ==
        "<|im_start|>he<unk><|im_end|>");
  CHECK(tokenizer.piece(end) == "");
  CHECK(tokenizer.piece(end, SpecialText::shown) == "<|im_end|>");
  CHECK(tokenizer.piece(ll) == "ll");
}

TEST_CASE("Tokenizer: tokens outside the vocabulary") {
  const Tokenizer tokenizer = make();
  CHECK_THROWS_WITH_AS(tokenizer.decode(Ids{he, 262}),
                       "token 262: the vocabulary has the tokens 0 to 261", TokenError);
  CHECK_THROWS_AS(tokenizer.piece(-1), TokenError);
}

TEST_CASE("Tokenizer: the ends of a generation are the named ones and those known by name") {
  const Tokenizer tokenizer = make();
  CHECK(tokenizer.is_end(ll));
  CHECK(tokenizer.is_end(end));
  CHECK_FALSE(tokenizer.is_end(start));
  CHECK_FALSE(tokenizer.is_end(he));
  CHECK(tokenizer.ends().size() == 2);
}

TEST_CASE("Tokenizer: token 0 can be an end, and no end is one, too") {
  TinyVocabulary tiny;
  CHECK(Tokenizer(Vocabulary(tiny.parts)).ends().empty());
  tiny.parts.special.end = 0;
  const Tokenizer tokenizer{Vocabulary(tiny.parts)};
  CHECK(tokenizer.is_end(0));
  CHECK_FALSE(tokenizer.is_end(1));
  CHECK(tokenizer.ends().size() == 1);
}

TEST_CASE("Tokenizer: a split pattern that is not known") {
  CHECK_THROWS_AS(make("whatever"), ConfigError);
}

TEST_CASE("Tokenizer: any bytes come back, with every pattern") {
  Random random(5);
  for (const char* pattern : {"gpt-2", "llama-bpe", "qwen2", "smollm"}) {
    const Tokenizer tokenizer = make(pattern);
    for (int round = 0; round < 500; ++round) {
      std::string text;
      for (std::uint32_t n = random() % 40; n > 0; --n) {
        text += random() % 3 == 0 ? "hello <tool>|im_1\n"[random() % 18]
                                  : static_cast<char>(static_cast<unsigned char>(random() % 256));
      }
      REQUIRE(tokenizer.decode(tokenizer.encode(text)) == text);
      REQUIRE(tokenizer.decode(tokenizer.encode_with_special(text), SpecialText::shown) == text);
    }
  }
}

TEST_CASE("Tokenizer: one object serves several threads, and may be moved") {
  Tokenizer first = make("llama-bpe");
  const std::string text = "hello hello, 12345 hello\n\n";
  const Ids expected = first.encode(text);
  const Tokenizer tokenizer = std::move(first);
  std::vector<Ids> results(4);
  std::vector<std::thread> team;
  for (Ids& result : results) {
    team.emplace_back([&] {
      for (int i = 0; i < 200; ++i) result = tokenizer.encode(text);
    });
  }
  for (std::thread& t : team) t.join();
  for (const Ids& result : results) CHECK(result == expected);
}
