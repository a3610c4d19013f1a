// The vocabulary of any GGUF file: an error of the library, or a tokenizer that gives every text
// back that it can spell.
#include <optional>
#include <span>
#include <string>

#include "imbrex/text/chat.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "tests/fuzz/input.hpp"

using namespace imbrex;
using fuzz::require;

namespace {

std::optional<Tokenizer> tokenizer_of(std::span<const std::byte> bytes) {
  try {
    return Tokenizer(read_vocabulary(GgufFile::parse(bytes, "fuzz")));
  } catch (const FormatError&) {
  } catch (const ConfigError&) {
  }
  return std::nullopt;
}

void try_text(const Tokenizer& tokenizer, std::string_view text) {
  try {
    require(tokenizer.decode(tokenizer.encode(text), SpecialText::shown) == text,
            "decode(encode(x)) is x");
    require(tokenizer.decode(tokenizer.encode_with_special(text), SpecialText::shown) == text,
            "decode(encode_with_special(x)) is x");
  } catch (const TokenError&) {
    // A byte that the vocabulary has no token for.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<Tokenizer> tokenizer = tokenizer_of(std::as_bytes(std::span(data, size)));
  if (!tokenizer) return 0;
  const Vocabulary& vocabulary = tokenizer->vocabulary();
  for (token_t id = 0; id < vocabulary.size() && id < 64; ++id) {
    try_text(*tokenizer, vocabulary.text(id));
    [[maybe_unused]] const bool end = tokenizer->is_end(id);
  }
  try_text(*tokenizer, "the 12 cats\n\n don't");
  try_text(*tokenizer, {reinterpret_cast<const char*>(data), size < 256 ? size : 256});
  try {
    const Message question{"user", "the"};
    ChatMl(*tokenizer).encode({&question, 1});
  } catch (const ConfigError&) {
  } catch (const TokenError&) {
  }
  return 0;
}
