// Any bytes as a model: an error of the library, or a decoder that computes. What its numbers are
// does not matter (weights may be NaN), that nothing is read or written beside them does.
#include <array>
#include <optional>
#include <span>

#include "imbrex/checkpoint/load.hpp"
#include "tests/fuzz/input.hpp"

using namespace imbrex;

namespace {

std::optional<Decoder<>> decoder_of(std::span<const std::byte> bytes) {
  try {
    return load(GgufFile::parse(bytes, "fuzz"));
  } catch (const FormatError&) {
  } catch (const ConfigError&) {
  }
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<Decoder<>> decoder = decoder_of(std::as_bytes(std::span(data, size)));
  if (!decoder) return 0;
  // From here on nothing may throw: the file was found to be a model. A prompt in two chunks, and
  // a token behind it.
  const index_t vocab = decoder->config().dims.vocab;
  const std::array<token_t, 3> prompt{0, static_cast<token_t>(vocab - 1),
                                      static_cast<token_t>(vocab / 2)};
  Workspace workspace(*decoder, 2);
  KvCache cache(decoder->config(), 4);
  decoder->last_logits(workspace, cache, prompt);
  const auto logits = decoder->last_logits(workspace, cache, std::span(prompt).first(1));
  fuzz::require(logits.count() == vocab && cache.length() == 4, "there are logits for every token");
  float sum = 0;
  for (index_t i = 0; i < vocab; ++i) sum += logits(i);
  [[maybe_unused]] static volatile float sink;  // or reading could be left out
  sink = sum;
  return 0;
}
