// The shapes of a forward pass, step by step: 17 steps of a block, as tables of Llama show them,
// beside what an observer sees while a pass runs.
//
//   shape_trace                       Llama 2 7B
//   shape_trace qwen3-0.6b            another preset
//   shape_trace model.gguf            the model in a file
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/kernels/attention.hpp"
#include "imbrex/model/decoder.hpp"
#include "imbrex/model/presets.hpp"
#include "model_argument.hpp"
#include "table.hpp"
#include "zero_weights.hpp"

using namespace imbrex;
using namespace examples;

namespace {

constexpr const char* usage =
    "usage: shape_trace [PRESET | FILE.gguf] [--tokens N] [--batch N] [--layers N]\n"
    "\n"
    "Runs a forward pass and shows the shape of every step.\n"
    "  PRESET        a decoder of this preset's sizes, by default llama-2-7b; its weights are "
    "zeros\n"
    "  FILE.gguf     the model in this file\n"
    "  --tokens N    new tokens of each sequence (16)\n"
    "  --batch N     sequences (1)\n"
    "  --layers N    blocks of the preset that are run (1); all of them have the same shapes\n";

struct Options {
  std::string model = "llama-2-7b";
  index_t tokens = 16, batch = 1, layers = 1;
};

/// One line of the table. `shape` is what the step makes of a sequence, a letter for each axis:
/// N tokens, D model, H heads, K kv heads, d head_dim, F hidden, V vocabulary; P is H d, R is K d.
struct Line {
  int number;  ///< of the 17 steps; 0 for what belongs to the step above, or is outside
  const char* title;
  const char* shape;
  const char* step;  ///< the observer's name of it; null where nothing is computed
  const char* remark;
};

constexpr const char* scores = "scores";
constexpr Line lines[] = {
    {1, "input", "ND", "embedding", ""},
    {2, "norm 1", "ND", "attn_norm", ""},
    {3, "projection Q", "NP", "q", ""},
    {0, "projection K", "NR", "k", ""},
    {0, "projection V", "NR", "v", ""},
    {4, "split into heads", "NHd", nullptr, "nothing to do: W_q maps Model to Heads x HeadDim"},
    {5, "RoPE of Q", "NHd", "q_turned", ""},
    {0, "RoPE of K", "NKd", "k_turned", ""},
    {6, "scores Q K^T / sqrt(d)", "HNN", nullptr, scores},
    {7, "causal mask", "HNN", nullptr, "never stored: later keys are not read"},
    {8, "softmax", "HNN", nullptr, "never stored: online, tile by tile"},
    {9, "weights times V", "HNd", "attended", ""},
    {10, "concatenation", "NP", nullptr, "nothing to do: W_o takes Heads x HeadDim"},
    {11, "output projection", "ND", "attn_out", ""},
    {12, "residual 1", "ND", "attn_residual", ""},
    {13, "norm 2", "ND", "ffn_norm", ""},
    {14, "gate", "NF", "ffn_gate", ""},
    {0, "up", "NF", "ffn_up", ""},
    {15, "SwiGLU", "NF", "ffn_hidden", ""},
    {16, "down", "ND", "ffn_out", ""},
    {17, "residual 2", "ND", "ffn_residual", ""},
    {0, "last norm", "1D", "norm", ""},
    {0, "logits", "1V", "logits", ""},
};

/// The size that a letter of Line::shape stands for.
index_t size_of(char letter, const Dims& d, index_t tokens) {
  switch (letter) {
    case 'N':
      return tokens;
    case 'D':
      return d.model;
    case 'H':
      return d.heads;
    case 'K':
      return d.kv_heads;
    case 'd':
      return d.head_dim;
    case 'F':
      return d.hidden;
    case 'V':
      return d.vocab;
    case 'P':
      return d.heads * d.head_dim;
    case 'R':
      return d.kv_heads * d.head_dim;
    default:
      return 1;
  }
}

/// An axis whose size is part of the decoder's type, or not: then `size` is dyn.
struct TypedAxis {
  std::string_view name;
  index_t size;
};

template <class... As>
std::vector<TypedAxis> typed_axes() {
  return {{As::name, As::static_size}...};
}

/// A step as it was seen: "blk.0.q[Time=16, Heads<32>, HeadDim<128>]", and its size.
struct Seen {
  std::string name, text;
  index_t count;
};

/// The notation of errors, but with <> around sizes that the compiler knows, as in their types.
std::string text_of(const ShapeRef& shape, const std::vector<TypedAxis>& axes) {
  std::string text = shape.operand;
  for (index_t i = 0; i < shape.rank; ++i) {
    const std::string size = std::to_string(shape.sizes[i]);
    bool known = false;
    for (const TypedAxis& axis : axes) known |= axis.name == shape.names[i] && axis.size != dyn;
    text += (i == 0 ? "[" : ", ") + std::string(shape.names[i]);
    text += known ? "<" + size + ">" : "=" + size;
  }
  return text + "]";
}

/// What an observer saw: the steps of block 0 and those outside blocks, and whether every other
/// block had the same.
struct Trace {
  std::vector<TypedAxis> axes;
  std::vector<Seen> steps;
  bool alike = true;
  index_t blocks = 0;
  index_t keys = 0;  ///< of a sequence, after the pass

  void see(const Step& step) {
    const std::string name = step.name, operand = step.layer < 0 ? name : "blk.0." + name;
    const Seen seen{name, text_of(step.value.ref(operand.c_str()), axes),
                    step.value.count(0, step.value.rank)};
    const Seen* before = find(step.name);
    blocks = greater(blocks, step.layer + 1);
    if (step.layer <= 0 && before == nullptr) {
      steps.push_back(seen);
    } else {
      alike = alike && before != nullptr && before->text == seen.text;
    }
  }
  const Seen* find(std::string_view name) const {
    for (const Seen& seen : steps) {
      if (seen.name == name) return &seen;
    }
    return nullptr;
  }
};

/// A pass over `batch` sequences of `tokens` tokens, watched.
template <Dims dims>
Trace watch(const Decoder<dims>& decoder, const Options& options) {
  using D = Decoder<dims>;
  Trace trace;
  trace.axes = typed_axes<typename D::M, typename D::V, typename D::H, typename D::K, typename D::D,
                          typename D::F>();
  std::vector<token_t> ids;
  for (index_t i = 0; i < options.tokens; ++i) {
    ids.push_back(static_cast<token_t>(i % decoder.config().dims.vocab));
  }
  std::vector<KvCache> caches;
  for (index_t i = 0; i < options.batch; ++i) caches.emplace_back(decoder.config(), options.tokens);
  std::vector<SequenceInput> inputs;
  for (KvCache& cache : caches) inputs.push_back({ids, &cache});
  Workspace workspace(decoder, options.batch * options.tokens, options.batch);
  decoder.last_logits(workspace, inputs, [&](const Step& step) { trace.see(step); });
  trace.keys = caches.front().keys(0, caches.front().length()).size(1);
  return trace;
}

/// "(16, 4096)", with the sequences before it where there are several; their product in `count`.
std::string table_shape(const Line& line, const Dims& dims, const Options& options,
                        index_t& count) {
  count = options.batch;
  std::string text = options.batch > 1 ? std::to_string(options.batch) : "";
  for (const char* letter = line.shape; *letter != 0; ++letter) {
    const index_t size = size_of(*letter, dims, options.tokens);
    count *= size;
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "(" + text + ")";
}

/// Scores as they would be if they were ever stored.
std::string unstored_scores(const Trace& trace, const Dims& dims, const Options& options) {
  const char* names[] = {Heads<>::name, Time<>::name, Keys<>::name};
  const index_t sizes[] = {dims.heads, options.tokens, trace.keys};
  const index_t bytes = options.batch * sizes[0] * sizes[1] * sizes[2] * index_t{sizeof(float)};
  return text_of({"", names, sizes, 3}, trace.axes) + ", " + in_units(bytes) +
         ", never stored: in tiles of at most " + std::to_string(kernels::tiles::attention_rows) +
         " x " + std::to_string(kernels::tiles::attention_keys);
}

/// Prints the table; false where a step has not the size that the table says.
bool print(const Trace& trace, const Dims& dims, const Options& options) {
  Table table("rlll");
  table.add({"", "step", options.batch > 1 ? "(batch, ...)" : "shape", "in the pass"});
  bool right = true;
  for (const Line& line : lines) {
    index_t count = 0;
    const std::string shape = table_shape(line, dims, options, count);
    std::string text = line.remark == scores ? unstored_scores(trace, dims, options) : line.remark;
    if (line.step != nullptr) {
      const Seen* seen = trace.find(line.step);
      right = right && (seen == nullptr || seen->count == count);
      text = seen == nullptr        ? "this block has no such step"
             : seen->count == count ? seen->text
                                    : seen->text + ", of another size";
    }
    table.add({line.number > 0 ? std::to_string(line.number) : "", line.title, shape, text});
  }
  table.print();
  if (trace.blocks > 1) {
    std::printf("\nThe other blocks have %s.\n", trace.alike ? "the same shapes" : "other shapes");
  }
  return right && trace.alike;
}

void print_head(const std::string& name, const Options& options, index_t run, index_t all) {
  std::printf("%s: ", name.c_str());
  if (options.batch > 1) std::printf("%s sequences of ", grouped(options.batch).c_str());
  std::printf("%s tokens through ", grouped(options.tokens).c_str());
  if (run == all) {
    std::printf("all %s blocks\n", grouped(all).c_str());
  } else {
    std::printf("%s of %s blocks\n", grouped(run).c_str(), grouped(all).c_str());
  }
}

/// The sizes that are axes: the number of blocks is none.
constexpr Dims without_layers(Dims dims) {
  dims.layers = dyn;
  return dims;
}

/// A pass through a decoder whose type has the sizes of preset I.
template <std::size_t I>
Trace watch_preset(const Config& config, const DecoderWeights& weights, const Options& options) {
  constexpr Dims dims = without_layers(presets::all[I].config.dims);
  return watch(Decoder<dims>(config, weights), options);
}

/// The same for the preset of a number known at run time: there is a decoder for each.
template <std::size_t... I>
Trace watch_preset(std::size_t which, const Config& config, const DecoderWeights& weights,
                   const Options& options, std::index_sequence<I...>) {
  using Watch = Trace (*)(const Config&, const DecoderWeights&, const Options&);
  constexpr Watch all[] = {watch_preset<I>...};
  return all[which](config, weights, options);
}

bool trace_preset(const Options& options) {
  const presets::Preset& preset = preset_called(options.model);
  Config config = preset.config;
  if (options.layers > config.dims.layers) {
    raise(UsageError("--layers: expected at most " + std::to_string(config.dims.layers) + ", got " +
                     std::to_string(options.layers)));
  }
  config.dims.layers = options.layers;
  const ZeroWeights zeros(config, Dtype::q4_0);
  constexpr std::size_t count = std::size(presets::all);
  const Trace trace = watch_preset(static_cast<std::size_t>(&preset - presets::all), config,
                                   zeros.make(), options, std::make_index_sequence<count>());
  print_head(preset.name, options, options.layers, preset.config.dims.layers);
  std::printf(
      "Weights: zeros. Every matrix has its own shape, and all are views of one block of "
      "%s.\n",
      in_units(zeros.bytes()).c_str());
  std::printf("Model<%lld> is a size that the compiler knows, Time=%lld one of run time.\n\n",
              static_cast<long long>(config.dims.model),
              static_cast<long long>(options.tokens * options.batch));
  return print(trace, config.dims, options);
}

bool trace_file(const Options& options) {
  const Decoder<> decoder = load(options.model);
  const Dims& dims = decoder.config().dims;
  const Trace trace = watch(decoder, options);
  print_head(file_title(options.model), options, dims.layers, dims.layers);
  std::printf("All sizes are of run time: a file says them.\n\n");
  return print(trace, dims, options);
}

/// False where only help was asked for.
bool parse(CommandLine words, Options& options) {
  bool model = false, layers = false;
  while (!words.done()) {
    const std::string_view word = words.take();
    if (asks_for_help(word)) return false;
    index_t* number = word == "--tokens"   ? &options.tokens
                      : word == "--batch"  ? &options.batch
                      : word == "--layers" ? &options.layers
                                           : nullptr;
    if (number != nullptr) {
      *number = words.number<index_t>(word);
      if (*number < 1 || *number > 1'000'000) {
        raise(UsageError(std::string(word) + ": expected 1 to 1000000, got " +
                         std::to_string(*number)));
      }
      layers = layers || word == "--layers";
    } else if (model || word.starts_with("-")) {
      refuse(word);
    } else {
      options.model = word;
      model = true;
    }
  }
  if (layers && is_file(options.model)) {
    raise(UsageError("--layers: a file is run with all its layers"));
  }
  return true;
}

bool run(int argc, char** argv) {
  Options options;
  if (!parse(CommandLine(argc, argv), options)) return false;
  const bool right = is_file(options.model) ? trace_file(options) : trace_preset(options);
  if (!right) raise(Error("the pass has other sizes than the table"));
  return true;
}

}  // namespace

int main(int argc, char** argv) { return run_main("shape_trace", usage, argc, argv, run); }
