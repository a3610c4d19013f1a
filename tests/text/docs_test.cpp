// The programs that docs/tokenizers.md quotes, compiled (they need a model to run).
#include <iostream>
#include <string>
#include <vector>

#include "imbrex/text/chat.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "imbrex/text/utf8_stream.hpp"

using namespace imbrex;

namespace {

[[maybe_unused]] void text_and_tokens() {
  const Tokenizer tokenizer(read_vocabulary(GgufFile::open("model.gguf")));
  std::vector<token_t> ids = tokenizer.encode("Hello, world");
  std::string text = tokenizer.decode(ids);  // "Hello, world"
}

[[maybe_unused]] void dialogues(const Tokenizer& tokenizer) {
  const ChatMl chat(tokenizer);
  const Message messages[] = {{"user", "Why is the sky blue?"}};
  std::vector<token_t> prompt = chat.encode(messages);  // ends with "<|im_start|>assistant\n"
}

[[maybe_unused]] void characters(const Tokenizer& tokenizer, const std::vector<token_t>& ids) {
  Utf8Stream stream;
  for (token_t id : ids) std::cout << stream.feed(tokenizer.piece(id));
  std::cout << stream.flush();
}

}  // namespace
