// Small vocabularies of every known split pattern against llama.cpp's token ids.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "tests/text/golden_tokens.hpp"

using namespace imbrex;
using namespace imbrex::tests;

TEST_CASE("tokenizer: llama.cpp's ids, and the text back") {
  for (const std::string name : {"gpt-2", "llama-bpe", "qwen2", "smollm"}) {
    const GgufFile file = GgufFile::open(golden_tokenizer_path(name + ".gguf"));
    const Tokenizer tokenizer(read_vocabulary(file));
    int compared = 0, invalid = 0;
    for (const GoldenTokens& golden : read_golden_tokens(name + ".txt")) {
      CAPTURE(name);
      CAPTURE(golden.text);
      const std::vector<token_t> ids = golden.special ? tokenizer.encode_with_special(golden.text)
                                                      : tokenizer.encode(golden.text);
      CHECK(tokenizer.decode(ids, SpecialText::shown) == golden.text);
      if (golden.invalid) {  // other tokens, on purpose: ours keep the bytes
        ++invalid;
        continue;
      }
      CHECK(ids == golden.ids);
      ++compared;
    }
    CHECK(compared >= 80);
    CHECK(invalid >= 10);
  }
}
