// The smallest program that answers a question: ask model.gguf "Why is the sky blue?"
#include <iostream>
#include <string_view>

#include "imbrex/generation.hpp"
#include "imbrex/imbrex.hpp"
#include "imbrex/text.hpp"

int main(int argc, char** argv) try {
  using namespace imbrex;
  if (argc != 3) raise(ConfigError("arguments", std::to_string(argc - 1), "MODEL.gguf QUESTION"));
  const GgufFile file = GgufFile::open(argv[1]);
  const Decoder<> decoder = load(file);
  const Tokenizer tokenizer(read_vocabulary(file));

  Session<> session(decoder, tokenizer);
  const Message question[] = {{"user", argv[2]}};
  session.feed(ChatMl(tokenizer).encode(question));
  session.generate({.sampling = {.temperature = 0}}, [](std::string_view piece) {
    std::cout << piece << std::flush;
    return true;
  });
  std::cout << "\n";
} catch (const std::exception& error) {
  std::cerr << "ask: " << error.what() << "\n";
  return 1;
}
