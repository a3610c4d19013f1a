// Any bytes through every split pattern: decode(encode(x)) == x, with control tokens as text and as
// tokens; and through Utf8Stream in pieces.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "imbrex/text/tokenizer.hpp"
#include "imbrex/text/utf8_stream.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;
using fuzz::require;

namespace {

Tokenizer make(const char* pattern) {
  tests::TinyVocabulary tiny(pattern, {{" ", " "},
                                       {"t", "h"},
                                       {"th", "e"},
                                       {" ", "the"},
                                       {"\n", "\n"},
                                       {"  ", "  "},
                                       {"\xE4", "\xB8"},
                                       {"'", "s"}});
  tiny.parts.merges.push_back({"a", "b"});  // to what is no token
  tiny.parts.merges.push_back({"ab", "ab"});
  tiny.parts.ignore_merges = std::string_view(pattern) == "llama-bpe";
  tiny.add("word", TokenType::normal);
  tiny.add("<|im_start|>", TokenType::control);
  tiny.add("<|im_end|>", TokenType::control);
  for (const char* text : {"<t>", "<t><t", "><", "aa", "aab", "\xFF\xFE"}) {
    tiny.add(text, TokenType::user_defined);
  }
  return Tokenizer(Vocabulary(tiny.parts));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<Tokenizer, 4> tokenizers{make("gpt-2"), make("llama-bpe"), make("qwen2"),
                                                   make("smollm")};
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const Tokenizer& tokenizer : tokenizers) {
    const auto plain = tokenizer.encode(text);
    require(tokenizer.decode(plain) == text, "decode(encode(x)) is not x");
    const auto special = tokenizer.encode_with_special(text);
    require(tokenizer.decode(special, SpecialText::shown) == text,
            "decode(encode_with_special(x)) is not x");
    std::string streamed;
    Utf8Stream stream;
    for (const token_t id : plain) {
      streamed += stream.feed(tokenizer.piece(id));
      require(streamed.size() + static_cast<std::size_t>(stream.held()) <= text.size() &&
                  stream.held() <= 3,
              "Utf8Stream holds too much");
    }
    streamed += stream.flush();
    require(streamed == text, "Utf8Stream changes the text");
  }
  return 0;
}
