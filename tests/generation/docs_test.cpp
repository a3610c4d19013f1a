// The programs that docs/generation.md quotes, compiled (they need a model to run).
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "imbrex/checkpoint/load.hpp"
#include "imbrex/generation/session.hpp"
#include "imbrex/model/presets.hpp"
#include "imbrex/text/chat.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"

using namespace imbrex;

namespace {

[[maybe_unused]] void one_text() {
  const GgufFile file = GgufFile::open("model.gguf");
  const Decoder<> decoder = load(file);
  const Tokenizer tokenizer(read_vocabulary(file));
  Session<> session(decoder, tokenizer, {.capacity = 2048});

  session.feed("Once upon a time");
  session.generate({.max_tokens = 100}, [](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    return true;  // false stops
  });
}

[[maybe_unused]] void settings(Session<>& session) {
  const GenerationOptions options{
      .max_tokens = 200,
      .sampling = {.repetition_penalty = 1.1, .temperature = 0.8, .top_k = 40, .top_p = 0.95},
      .seed = 42,
      .stops = {"\n\n", "User:"}};
  const GenerationResult result = session.generate(options);
  if (result.reason == StopReason::length) std::puts("there would have been more");
}

[[maybe_unused]] void dialogue(Session<>& session, const Tokenizer& tokenizer) {
  const ChatMl chat(tokenizer);
  const Message messages[] = {{"user", "What is the capital of France?"}};
  session.feed(chat.encode(messages));
  session.generate({.sampling = {.temperature = 0}});

  session.feed(chat.encode_next({"user", "And of Italy?"}));
  session.generate({.sampling = {.temperature = 0}});
}

[[maybe_unused]] void another_try(Session<>& session) {
  const index_t asked = static_cast<index_t>(session.tokens().size());
  session.generate({.seed = 1});
  session.truncate(asked);
  session.generate({.seed = 2});
}

[[maybe_unused]] void own_sampling(Session<>& session) {
  Sampler sampler({.temperature = 0.7}, 42);
  for (int i = 0; i < 10; ++i) {
    const token_t token = sampler.sample(session.logits());
    session.feed({&token, 1});
  }
}

}  // namespace
