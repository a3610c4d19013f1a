#include "imbrex/text/gguf_vocabulary.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "imbrex/formats/gguf_writer.hpp"
#include "imbrex/text/tokenizer.hpp"

using namespace imbrex;

namespace {

/// The keys of a sound file; a test changes one.
struct Keys {
  std::optional<std::string> model = "gpt2", pre = "smollm", chat_template;
  std::optional<std::vector<std::string>> tokens =
      std::vector<std::string>{"a", "b", "\u0120", "ab", "<|im_end|>", "\u4E2D"};
  std::optional<std::vector<std::int32_t>> types = std::vector<std::int32_t>{1, 1, 1, 1, 3, 1};
  std::optional<std::vector<std::string>> merges = std::vector<std::string>{"a b"};
  std::optional<std::uint32_t> bos, eos = 4, eot, unknown, padding;
  std::optional<bool> add_bos;

  Vocabulary read() const {
    GgufWriter writer;
    const auto add = [&writer](const char* key, const auto& value) {
      if (value) writer.add(key, *value);
    };
    add("tokenizer.ggml.model", model);
    add("tokenizer.ggml.pre", pre);
    add("tokenizer.ggml.tokens", tokens);
    add("tokenizer.ggml.token_type", types);
    add("tokenizer.ggml.merges", merges);
    add("tokenizer.ggml.bos_token_id", bos);
    add("tokenizer.ggml.eos_token_id", eos);
    add("tokenizer.ggml.eot_token_id", eot);
    add("tokenizer.ggml.unknown_token_id", unknown);
    add("tokenizer.ggml.padding_token_id", padding);
    add("tokenizer.ggml.add_bos_token", add_bos);
    add("tokenizer.chat_template", chat_template);
    const std::vector<std::byte> bytes = writer.to_bytes();
    return read_vocabulary(GgufFile::parse(bytes, "m.gguf"));
  }
};

}  // namespace

TEST_CASE("GGUF vocabulary: what is in the file is in the vocabulary") {
  Keys keys;
  keys.bos = 0;
  keys.eot = 3;
  keys.unknown = 1;
  keys.padding = 2;
  keys.add_bos = true;
  keys.chat_template = "{{ x }}";
  const Vocabulary v = keys.read();
  CHECK(v.size() == 6);
  CHECK(v.text(2) == " ");  // U+0120 stands for the space
  CHECK(v.text(4) == "<|im_end|>");
  CHECK(v.type(4) == TokenType::control);
  REQUIRE(v.merges().size() == 1);
  CHECK(v.merges()[0].left == "a");
  CHECK(v.merges()[0].right == "b");
  CHECK(v.special().begin == 0);
  CHECK(v.special().end == 4);
  CHECK(v.special().end_of_turn == 3);
  CHECK(v.special().unknown == 1);
  CHECK(v.special().padding == 2);
  CHECK(v.add_begin());
  CHECK(v.pattern() == "smollm");
  CHECK(v.chat_template() == "{{ x }}");
}

TEST_CASE("GGUF vocabulary: what may be absent") {
  const Vocabulary v = Keys().read();
  CHECK(v.special().begin == no_token);
  CHECK_FALSE(v.add_begin());
  CHECK_FALSE(v.ignore_merges());
  CHECK(v.chat_template().empty());
}

TEST_CASE("GGUF vocabulary: Llama 3 begins with BOS and looks pieces up whole") {
  Keys keys;
  keys.pre = "llama-bpe";
  keys.bos = 4;
  CHECK(keys.read().add_begin());
  CHECK(keys.read().ignore_merges());
  keys.add_bos = false;
  CHECK_FALSE(keys.read().add_begin());
}

TEST_CASE("GGUF vocabulary: a normal token outside the alphabet keeps its text, unused") {
  const Vocabulary v = Keys().read();
  CHECK(v.text(5) == "\u4E2D");
  CHECK(v.type(5) == TokenType::unused);
}

// Taken for byte-level text, as normal tokens are written, these would read "il\xD6veyou", "\x11em"
// (huggingface/tokenizers#1392, #1915) and " x"; the last is none, as the alphabet has no space.
TEST_CASE("GGUF vocabulary: added tokens are no byte-level text, there and back") {
  const std::vector<std::string> texts = {"il\u00D6veyou", "\u0111em", "\u0120x", "a b"};
  for (const TokenType type : {TokenType::user_defined, TokenType::control}) {
    CAPTURE(static_cast<int>(type));
    Keys keys;
    keys.tokens = {"a", "b", "\u0120", "x"};
    keys.types = {1, 1, 1, 1};
    keys.merges->clear();
    keys.eos.reset();
    for (const std::string& text : texts) {
      keys.tokens->push_back(text);
      keys.types->push_back(static_cast<std::int32_t>(type));
    }
    const Tokenizer tokenizer(keys.read());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const token_t added = static_cast<token_t>(4 + i);
      const std::string text = "x" + texts[i] + " x";
      CAPTURE(text);
      const std::vector<token_t> ids = tokenizer.encode_with_special(text);
      CHECK(ids == std::vector<token_t>{3, added, 2, 3});
      CHECK(tokenizer.decode(ids, SpecialText::shown) == text);
      CHECK(tokenizer.piece(added, SpecialText::shown) == texts[i]);
      // The user's own text has the tokens that are user-defined, not those of control.
      if (type == TokenType::user_defined) {
        CHECK(tokenizer.encode(text) == ids);
        CHECK(tokenizer.decode(ids) == text);
      }
    }
    CHECK(tokenizer.encode_with_special(" x") == std::vector<token_t>{2, 3});
  }
}

TEST_CASE("GGUF vocabulary: unknown kinds are named with what is known") {
  Keys keys;
  keys.model = "llama";
  CHECK_THROWS_WITH_AS(keys.read(),
                       "m.gguf: tokenizer.ggml.model = llama: expected a known tokenizer: gpt2",
                       ConfigError);
  keys = {};
  keys.pre = "gpt-9";
  CHECK_THROWS_WITH_AS(keys.read(),
                       "m.gguf: tokenizer.ggml.pre = gpt-9: expected a known split pattern: gpt-2, "
                       "llama-bpe, qwen2, smollm",
                       ConfigError);
}

TEST_CASE("GGUF vocabulary: what a file calls its kind cannot upset a terminal") {
  Keys keys;
  keys.model = "\x1b[31m\nred";
  CHECK_THROWS_WITH_AS(keys.read(),
                       "m.gguf: tokenizer.ggml.model = ?[31m?red: expected a known tokenizer: gpt2",
                       ConfigError);
  keys = {};
  keys.pre = "x\r\x1b]0;title\x07\u009b2J" + std::string(100, 'y');
  CHECK_THROWS_WITH_AS(keys.read(),
                       ("m.gguf: tokenizer.ggml.pre = x??]0;title?"
                        "?2J" +
                        std::string(48, 'y') +
                        "...: expected a known split pattern: gpt-2, llama-bpe, qwen2, smollm")
                           .c_str(),
                       ConfigError);
}

TEST_CASE("GGUF vocabulary: files that are not sound") {
  Keys keys;
  SUBCASE("no model") { keys.model.reset(); }
  SUBCASE("no pattern") { keys.pre.reset(); }
  SUBCASE("no tokens") { keys.tokens.reset(); }
  SUBCASE("no types") { keys.types.reset(); }
  SUBCASE("no merges") { keys.merges.reset(); }
  SUBCASE("empty vocabulary") {
    keys.tokens->clear();
    keys.types->clear();
    keys.eos.reset();
  }
  SUBCASE("a type too few") { keys.types->pop_back(); }
  SUBCASE("a type too many") { keys.types->push_back(1); }
  SUBCASE("an unknown type") { keys.types->back() = 7; }
  SUBCASE("a type of other models") { keys.types->back() = 6; }
  SUBCASE("a negative type") { keys.types->back() = -1; }
  SUBCASE("two tokens with one text") { keys.tokens->back() = "ab"; }
  SUBCASE("a merge without a space") { keys.merges->push_back("ab"); }
  SUBCASE("a merge with two") { keys.merges->push_back("a b a"); }
  SUBCASE("half a merge") { keys.merges->push_back("a "); }
  SUBCASE("an empty merge") { keys.merges->push_back(""); }
  SUBCASE("a merge outside the alphabet") { keys.merges->push_back("a \u4E2D"); }
  SUBCASE("EOS behind the end") { keys.eos = 6; }
  SUBCASE("EOS far behind the end") { keys.eos = 0xFFFFFFFFu; }
  SUBCASE("BOS behind the end") { keys.bos = 6; }
  SUBCASE("padding behind the end") { keys.padding = 1000; }
  SUBCASE("a beginning without a token") { keys.add_bos = true; }
  CHECK_THROWS_AS(keys.read(), FormatError);
}

TEST_CASE("GGUF vocabulary: a key of a wrong type") {
  GgufWriter writer;
  writer.add("tokenizer.ggml.model", std::uint32_t{2});
  const std::vector<std::byte> bytes = writer.to_bytes();
  CHECK_THROWS_AS(read_vocabulary(GgufFile::parse(bytes, "m.gguf")), FormatError);
}

TEST_CASE("GGUF vocabulary: without tokens that is what is said, not that an id is outside them") {
  Keys keys;
  keys.tokens->clear();
  SUBCASE("nor types") { keys.types->clear(); }
  SUBCASE("with types") {}
  CHECK_THROWS_WITH_AS(keys.read(),
                       doctest::Contains("no tokens (tokenizer.ggml.tokens): expected at least 1"),
                       FormatError);
}
