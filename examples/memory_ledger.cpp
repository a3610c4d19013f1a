// What a decoder needs of memory, by the ledger: to train it, and for its key-value cache; and the
// same figures measured from live objects.
//
//   memory_ledger                    Llama 2 7B
//   memory_ledger qwen3-0.6b         another preset
//   memory_ledger model.gguf         the model in a file
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "command_line.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/model/decoder.hpp"
#include "imbrex/model/ledger.hpp"
#include "model_argument.hpp"
#include "table.hpp"
#include "zero_weights.hpp"

using namespace imbrex;
using namespace examples;

// The ledger is constexpr. Llama 2 7B in 16 bits: 512 KiB of cache a token, 2 GiB at 4096 tokens,
// 32 GiB for 16 sequences of them; 16 bytes a parameter to train it.
static_assert(kv_cache_bytes(presets::llama2_7b, {}) == 512 * 1024);
static_assert(kv_cache_bytes(presets::llama2_7b, {.tokens = 4096}) == index_t{2} << 30);
static_assert(kv_cache_bytes(presets::llama2_7b, {.tokens = 4096, .batch = 16}) == index_t{32}
                                                                                       << 30);
static_assert(training_bytes(presets::llama2_7b).total == 16 * 6'738'415'616);

namespace {

constexpr const char* usage =
    "usage: memory_ledger [PRESET | FILE.gguf]\n"
    "\n"
    "What a decoder needs of memory, and the same measured.\n"
    "  PRESET        a preset, by default llama-2-7b; a pass of one token is run, which\n"
    "                takes seconds at 7 B parameters, a minute at 405 B\n"
    "  FILE.gguf     the model in this file\n";

void print_training(const Config& config) {
  const TrainingBytes bytes = training_bytes(config);
  const index_t parameters = count_parameters(config).total;
  Table table;
  const auto row = [&](const char* title, index_t all) {
    table.add({title, grouped(all / parameters), grouped(all), in_gigabytes(all), in_units(all)});
  };
  table.add({"training with AdamW", "bytes each", "bytes", "", ""});
  row("weights, bf16", bytes.weights);
  row("gradients, bf16", bytes.gradients);
  row("master weights, f32", bytes.optimiser / 3);
  row("first moment, f32", bytes.optimiser / 3);
  row("second moment, f32", bytes.optimiser / 3);
  row("all", bytes.total);
  table.print();
}

/// A table of contexts by batches.
template <class BytesOf>
void print_by_size(const char* title, const Config& config, const BytesOf& bytes_of) {
  constexpr index_t batches[] = {1, 4, 16};
  Table table;
  std::vector<std::string> head{title};
  for (const index_t batch : batches) head.push_back("batch " + std::to_string(batch));
  table.add(head);
  for (const index_t tokens : std::set<index_t>{1, 2048, 4096, config.context}) {
    if (tokens > config.context) continue;
    std::vector<std::string> row{grouped(tokens) + (tokens == 1 ? " token" : " tokens")};
    for (const index_t batch : batches) row.push_back(in_units(bytes_of(tokens, batch)));
    table.add(row);
  }
  table.print();
}

void print_ledger(const std::string& name, const Config& config) {
  std::printf("%s: %s parameters\n\n", name.c_str(),
              grouped(count_parameters(config).total).c_str());
  print_training(config);
  std::printf("\n");
  print_by_size("activations kept, bf16", config, [&](index_t tokens, index_t batch) {
    return activation_bytes(config, {.tokens = tokens, .batch = batch});
  });
  std::printf("\n");
  print_by_size("key-value cache, 16 bits", config, [&](index_t tokens, index_t batch) {
    return kv_cache_bytes(config, {.tokens = tokens, .batch = batch});
  });
}

/// Bytes of a linear layer's matrix, and of its bias.
template <class Layer>
index_t bytes_of(const Layer& layer) {
  const index_t bias = layer.bias() != nullptr ? layer.weight().rows() * index_t{sizeof(float)} : 0;
  return layer.weight().bytes() + bias;
}

template <class Norm>
index_t bytes_of(const std::optional<Norm>& norm) {
  return norm ? norm->weight().count() * index_t{sizeof(float)} : 0;
}

/// Bytes of weights that a decoder holds or maps.
index_t held_bytes(const Decoder<>& decoder) {
  const bool tied = decoder.config().tie_embeddings;
  index_t bytes = decoder.embedding().table().bytes() + (tied ? 0 : bytes_of(decoder.head())) +
                  bytes_of(std::optional(decoder.norm()));
  for (index_t i = 0; i < decoder.config().dims.layers; ++i) {
    const auto block = decoder.block(i);
    const auto& a = block.attention;
    bytes += bytes_of(a.q) + bytes_of(a.k) + bytes_of(a.v) + bytes_of(a.out);
    bytes +=
        bytes_of(a.q_norm) + bytes_of(a.k_norm) + bytes_of(a.q_norm_full) + bytes_of(a.k_norm_full);
    bytes += bytes_of(block.ffn.gate) + bytes_of(block.ffn.up) + bytes_of(block.ffn.down);
    bytes += bytes_of(block.attention_norm) + bytes_of(block.attention_post_norm) +
             bytes_of(block.ffn_norm) + bytes_of(block.ffn_post_norm);
  }
  return bytes;
}

/// Whether a backward pass reads this step again.
bool is_kept(const Config& config, const Step& step) {
  const std::string_view name = step.name;
  if (name == "q" || name == "k") {
    return config.qk_norm != QkNorm::none || !rotates(config, step.layer);
  }
  for (const char* kept :
       {"embedding", "attn_norm", "v", "q_turned", "k_turned", "attended", "attn_residual",
        "ffn_norm", "ffn_gate", "ffn_up", "ffn_hidden", "ffn_residual", "norm", "logits"}) {
    if (name == kept) return true;
  }
  return false;
}

/// Says how far a pass is, on a terminal only.
void show_progress(const Config& config, const Step& step) {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  if (!terminal) return;
  const std::string_view name = step.name;
  if (name == "q") {
    std::fprintf(stderr, "\rmeasuring: block %lld of %lld", static_cast<long long>(step.layer + 1),
                 static_cast<long long>(config.dims.layers));
  }
  if (name == "logits") std::fprintf(stderr, "\r\033[K");
}

/// Bytes of the activations that a pass over one token shows and a backward pass would read.
index_t kept_bytes(const Decoder<>& decoder) {
  index_t bytes = 0;
  Workspace workspace(decoder, 1);
  KvCache cache(decoder.config(), 1);
  const token_t token[] = {0};
  decoder.all_logits(workspace, cache, token, [&](const Step& step) {
    show_progress(decoder.config(), step);
    if (!is_kept(decoder.config(), step)) return;
    bytes += step.value.count(0, step.value.rank) * index_t{sizeof(float)};
  });
  return bytes;
}

void print_measured(const Decoder<>& decoder, Dtype dtype) {
  constexpr index_t rows = 64;
  const Config& config = decoder.config();
  const Workspace workspace(decoder, rows);
  Table table;
  table.add({"bytes", "by the ledger", "measured"});
  const auto row = [&](const std::string& title, index_t ledger, index_t measured) {
    table.add({title, grouped(ledger), grouped(measured)});
  };
  row(std::string("weights: ") + name(dtype) + ", vectors F32",
      weight_bytes(config, dtype, Dtype::f32), held_bytes(decoder));
  for (const Dtype cached : {Dtype::f32, Dtype::bf16}) {
    row(std::string("cache of 64 tokens, ") + name(cached),
        kv_cache_bytes(config, {.tokens = rows, .dtype = cached}),
        KvCache(config, rows, cached).bytes());
  }
  row("workspace of 64 rows, F32", workspace_bytes(config, {.rows = rows}), workspace.bytes());
  row("activations kept of a token, F32", activation_bytes(config, {.dtype = Dtype::f32}),
      kept_bytes(decoder));
  table.print();
}

void run_preset(const std::string& name) {
  const presets::Preset& preset = preset_called(name);
  print_ledger(preset.name, preset.config);
  std::printf(
      "\nOf a live decoder of this preset's shapes. Its matrices are zeros, all of them views of "
      "one\n"
      "block; each is counted as if it had its own:\n\n");
  const ZeroWeights zeros(preset.config, Dtype::bf16);
  print_measured(Decoder<>(preset.config, zeros.make()), Dtype::bf16);
}

/// The format of most of a file's bytes.
Dtype main_dtype(const GgufFile& file) {
  std::array<index_t, dtype_count> bytes{};
  std::size_t most = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    if (!tensor.dtype()) continue;
    const std::size_t i = static_cast<std::size_t>(*tensor.dtype());
    bytes[i] += tensor.bytes;
    if (bytes[i] > bytes[most]) most = i;
  }
  return static_cast<Dtype>(most);
}

void run_file(const std::string& path) {
  const GgufFile file = GgufFile::open(path);
  const Decoder<> decoder = load(file);
  const Dtype dtype = main_dtype(file);
  print_ledger(file_title(path), decoder.config());
  std::printf("\nOf the live decoder; the ledger as if all its matrices were %s:\n\n", name(dtype));
  print_measured(decoder, dtype);
}

bool run(int argc, char** argv) {
  CommandLine words(argc, argv);
  std::string model;
  while (!words.done()) {
    const std::string_view word = words.take();
    if (asks_for_help(word)) return false;
    if (!model.empty() || word.empty() || word.starts_with("-")) refuse(word);
    model = word;
  }
  if (is_file(model)) {
    run_file(model);
  } else {
    run_preset(model.empty() ? "llama-2-7b" : model);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) { return run_main("memory_ledger", usage, argc, argv, run); }
