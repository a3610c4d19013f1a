// The programs that docs/decoder.md and docs/files.md quote, compiled (they need a model to run).
#include <cstdio>
#include <string>
#include <vector>

#include "imbrex/checkpoint/load.hpp"
#include "imbrex/model/presets.hpp"

using namespace imbrex;

namespace {

// clang-format off
[[maybe_unused]] void loading() {
  const Decoder<> decoder = load("model.gguf");
  const Decoder<> copied = load("model.gguf", FileAccess::read);
}

[[maybe_unused]] void steps_of_loading() {
  const GgufFile file = GgufFile::open("model.gguf");
  const Config config = config_from_gguf(file);
  const DecoderWeights weights = read_gguf_weights(file, config);
  const Decoder<> same(config, weights);
}

[[maybe_unused]] void static_sizes() {
  const Decoder<presets::smollm2_135m.dims> fixed = load<presets::smollm2_135m.dims>("smollm2.gguf");
  const Decoder<Dims{.model = 576, .head_dim = 64}> partly = load<Dims{.model = 576, .head_dim = 64}>("smollm2.gguf");
}

[[maybe_unused]] void passes() {
  const Decoder<> decoder = load("model.gguf");
  Workspace workspace(decoder);
  KvCache cache(decoder.config(), 512);
  const std::vector<token_t> prompt = {1, 2, 3};
  const auto logits = decoder.last_logits(workspace, cache, prompt);  // [Vocab]

  const std::vector<token_t> question = {4, 5}, next_token = {6}, guess = {7, 8};
  KvCache first(decoder.config(), 9), second(decoder.config(), 9);
  const SequenceInput inputs[] = {{question, &first}, {next_token, &second}};
  const auto both = decoder.last_logits(workspace, inputs);  // [Batch=2, Vocab]

  decoder.last_logits(workspace, cache, guess);
  cache.truncate(3);  // forgets what came after the third position
  cache.clear();      // and these too

  const auto print = [](const Step& step) { std::puts(step.shape_text().c_str()); };
  decoder.last_logits(workspace, cache, prompt, print);  // blk.0.q[Time=3, Heads=4, HeadDim=32] ...
  static_cast<void>(logits), static_cast<void>(both);
}
// clang-format on

}  // namespace
