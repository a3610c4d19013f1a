// The whole vocabulary of SmolLM2-135M-Instruct, from the model's file.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/text/chat.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "tests/support/model_file.hpp"
#include "tests/text/golden_tokens.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using Ids = std::vector<token_t>;

Tokenizer load(const std::string& path) { return Tokenizer(read_vocabulary(GgufFile::open(path))); }

}  // namespace

TEST_CASE("SmolLM2: llama.cpp's ids, and the text back") {
  const std::string path = model_file();
  if (path.empty()) return;
  const Tokenizer tokenizer = load(path);
  CHECK(tokenizer.vocabulary().size() == 49152);
  int compared = 0, unspellable = 0;
  for (const GoldenTokens& golden : read_golden_tokens("smollm2.txt")) {
    if (golden.invalid) continue;  // this vocabulary has no tokens for bytes like 0xFF
    CAPTURE(golden.text);
    if (golden.lossy) {  // llama.cpp drops bytes without a token; here that is an error
      CHECK_THROWS_AS(tokenizer.encode(golden.text), TokenError);
      ++unspellable;
      continue;
    }
    const Ids ids =
        golden.special ? tokenizer.encode_with_special(golden.text) : tokenizer.encode(golden.text);
    CHECK(ids == golden.ids);
    CHECK(tokenizer.decode(ids, SpecialText::shown) == golden.text);
    ++compared;
  }
  CHECK(compared >= 80);
  CHECK(unspellable >= 1);
}

TEST_CASE("SmolLM2: its ends, and the bytes it cannot spell") {
  const std::string path = model_file();
  if (path.empty()) return;
  const Tokenizer tokenizer = load(path);
  CHECK(tokenizer.is_end(2));  // <|im_end|>, the file's EOS
  CHECK(tokenizer.is_end(0));  // <|endoftext|>
  CHECK_FALSE(tokenizer.is_end(1));
  CHECK(tokenizer.encode_prompt("") == Ids{});
  CHECK_THROWS_WITH_AS(tokenizer.encode("a\x04"), "the vocabulary has no token for the byte 0x04",
                       TokenError);
  CHECK_THROWS_AS(tokenizer.piece(49152), TokenError);
}

// The ids are llama.cpp's for the file's own template as Jinja renders it.
TEST_CASE("SmolLM2: a dialogue without a system message gets the template's") {
  const std::string path = model_file();
  if (path.empty()) return;
  const Tokenizer tokenizer = load(path);
  const ChatMl chat(tokenizer);
  CHECK(chat.default_system() ==
        "You are a helpful AI assistant named SmolLM, trained by Hugging Face");
  const Message messages[] = {{"user", "Hello"}};
  CHECK(chat.encode(messages) == Ids{1,     9690,  198,  2683, 359,   253,  5356, 5646,
                                     11173, 3365,  3511, 308,  34519, 28,   7018, 411,
                                     407,   19712, 8182, 2,    198,   1,    4093, 198,
                                     19556, 2,     198,  1,    520,   9531, 198});
}

TEST_CASE("SmolLM2: a dialogue of several turns, a content that begins with line feeds") {
  const std::string path = model_file();
  if (path.empty()) return;
  const Tokenizer tokenizer = load(path);
  const Message messages[] = {
      {"system", "Be brief."}, {"user", "\n\nHi <3"}, {"assistant", "Hi!"}, {"user", "2+2?"}};
  CHECK(ChatMl(tokenizer).encode(messages) ==
        Ids{1,    9690, 198, 6077, 5453, 30,  2,    198, 1,     4093, 1116, 198, 26843,
            2067, 35,   2,   198,  1,    520, 9531, 198, 26843, 17,   2,    198, 1,
            4093, 198,  34,  27,   34,   47,  2,    198, 1,     520,  9531, 198});
}
