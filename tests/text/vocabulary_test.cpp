#include "imbrex/text/vocabulary.hpp"

#include <doctest/doctest.h>

#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;
using imbrex::tests::TinyVocabulary;

TEST_CASE("Vocabulary: texts, types and special tokens") {
  TinyVocabulary tiny("gpt-2", {{"a", "b"}});
  const token_t end = tiny.add("<end>", TokenType::control);
  tiny.parts.special.end = end;
  const Vocabulary vocabulary(tiny.parts);
  CHECK(vocabulary.size() == 258);
  CHECK(vocabulary.text(256) == "ab");
  CHECK(vocabulary.type(end) == TokenType::control);
  CHECK(vocabulary.special().end == end);
  CHECK(vocabulary.special().begin == no_token);
  CHECK(vocabulary.find("<end>", TokenType::control) == end);
  CHECK(vocabulary.find("<end>", TokenType::normal) == no_token);
  CHECK_FALSE(vocabulary.contains(258));
  CHECK_FALSE(vocabulary.contains(-1));
}

TEST_CASE("Vocabulary: a token outside it is an error that says what there is") {
  const Vocabulary vocabulary(TinyVocabulary().parts);
  CHECK_THROWS_WITH_AS(vocabulary.text(256), "token 256: the vocabulary has the tokens 0 to 255",
                       TokenError);
  CHECK_THROWS_AS(vocabulary.text(-1), TokenError);
  CHECK_THROWS_AS(vocabulary.type(256), TokenError);
}

TEST_CASE("Vocabulary: parts that do not fit are refused") {
  TinyVocabulary tiny("gpt-2", {{"a", "b"}});
  VocabularyParts& parts = tiny.parts;
  SUBCASE("no tokens") { parts = {}; }
  SUBCASE("a type too few") { parts.types.pop_back(); }
  SUBCASE("a type too many") { parts.types.push_back(TokenType::normal); }
  SUBCASE("two tokens with one text") { tiny.add("ab", TokenType::normal); }
  SUBCASE("a merge of nothing") { parts.merges.push_back({"", "a"}); }
  SUBCASE("a type that there is not") { parts.types[0] = TokenType(7); }
  SUBCASE("a type of zero") { parts.types[0] = TokenType(0); }
  SUBCASE("a special token behind the end") { parts.special.end = 257; }
  SUBCASE("a special token below zero") { parts.special.begin = -2; }
  SUBCASE("a beginning without a token") { parts.add_begin = true; }
  CHECK_THROWS_AS(Vocabulary{parts}, FormatError);
}

TEST_CASE("Vocabulary: the error names file, key, expected and got") {
  TinyVocabulary tiny;
  tiny.parts.types.pop_back();
  CHECK_THROWS_WITH_AS(Vocabulary(tiny.parts, "m.gguf"),
                       "m.gguf: token types do not fit the tokens (tokenizer.ggml.token_type): "
                       "expected 256 types, got 255",
                       FormatError);
}
