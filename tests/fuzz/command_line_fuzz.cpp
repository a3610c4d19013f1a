// Any words as the command line of an example: a usage error or an option's own, one line without
// control characters, or arguments that hold what was said.
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "examples/attention_weights.hpp"
#include "examples/machine_limits.hpp"
#include "examples/model_argument.hpp"
#include "examples/random_model.hpp"
#include "examples/svg.hpp"
#include "examples/table.hpp"
#include "examples/token_counts.hpp"
#include "examples/zero_weights.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/kernels/attention.hpp"
#include "imbrex/model/decoder.hpp"
#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "tests/fuzz/input.hpp"

#define main generate_main
#include "examples/generate.cpp"
#undef main

// What the others include is included above; of them the parsers are used, and no more is compiled
// than those need.
#pragma GCC diagnostic ignored "-Wunused-function"
#define main static unused_main
namespace attention_maps {
#include "examples/attention_maps.cpp"
}
namespace prefill_and_decode {
#include "examples/prefill_and_decode.cpp"
}
namespace shape_trace {
#include "examples/shape_trace.cpp"
}
#undef main

using fuzz::require;

namespace {

void check_message(const char* what) {
  for (const char* c = what; *c != '\0'; ++c) {
    require(static_cast<unsigned char>(*c) >= 0x20 && *c != 0x7F, "an error is one plain line");
  }
}

/// Calls use(), whose errors are one plain line.
template <class Use>
void try_line(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    check_message(error.what());
  }
}

/// Takes the words one by one, as numbers of some kind where they are.
void take_all(int argc, char** argv, unsigned kind) {
  examples::CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view option = line.take();
    if (kind == 0) line.number<index_t>("--option");
    if (kind == 1) line.number<std::uint64_t>("--option");
    if (kind == 2) line.number<double>("--option");
    if (kind == 3) line.value("--option");
    if (kind == 4) raise(examples::UsageError("unknown option " + printable(option)));
  }
}

void parse_generate(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  require(a.help || !a.model.empty(), "without a model there is help, or an error");
  require(a.help || a.generation.max_tokens >= 0, "options are in their range");
}

void parse_attention_maps(int argc, char** argv) {
  const auto a = attention_maps::parse(argc, argv);
  require(a.help || !a.model.empty(), "without a model there is help, or an error");
  require(a.help || !a.has_prompt || a.tokens.empty(), "a text or tokens");
  require(a.help || (a.layer < 0) == (a.head < 0), "a layer and a head, or neither");
}

void parse_token_counts(int argc, char** argv) {
  for (const index_t tokens : examples::token_counts(argc, argv, {512})) {
    require(tokens >= 1 && tokens <= 32768, "tokens are in their range");
  }
}

void parse_prefill_and_decode(int argc, char** argv) {
  const auto a = prefill_and_decode::parse(argc, argv);
  require(a.help || a.svg.empty() || !a.counts, "what is counted is not drawn");
}

void parse_shape_trace(int argc, char** argv) {
  shape_trace::Options a;
  const bool runs = shape_trace::parse(examples::CommandLine(argc, argv), a);
  require(!runs || (a.tokens >= 1 && a.batch >= 1 && a.layers >= 1), "numbers are in their range");
  if (runs && !examples::is_file(a.model)) examples::preset_called(a.model);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.below(5);
  std::vector<std::string> words{"program"};
  while (!input.empty() && words.size() < 64) words.emplace_back(input.text('\0'));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(words.size());
  try_line([&] { take_all(argc, argv.data(), kind); });
  for (const auto parse_line : {parse_generate, parse_attention_maps, parse_token_counts,
                                parse_prefill_and_decode, parse_shape_trace}) {
    try_line([&] { parse_line(argc, argv.data()); });
    set_threads(0);
  }
  return 0;
}
