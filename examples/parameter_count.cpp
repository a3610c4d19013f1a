// Where the parameters of a decoder are, and what they weigh.
//
//   parameter_count                  every preset
//   parameter_count llama-2-7b       one preset, by part
//   parameter_count model.gguf       a file's tensors by part, beside what its metadata adds up to
//   parameter_count --where-the-notes-differ
//                                    what two sets of notes on Transformers say, and what is right
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include "command_line.hpp"
#include "imbrex/checkpoint/gguf_config.hpp"
#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"
#include "model_argument.hpp"
#include "notes_differ.hpp"
#include "table.hpp"

using namespace imbrex;
using namespace examples;

// The ledger is constexpr: this line is checked by the compiler.
static_assert(count_parameters(presets::llama2_7b).total == 6'738'415'616);

namespace {

constexpr const char* usage =
    "usage: parameter_count [PRESET | FILE.gguf | --where-the-notes-differ]\n"
    "\n"
    "Counts the parameters of a decoder.\n"
    "  without arguments   all presets: parameters, bytes in 16 bits, cache bytes per token\n"
    "  PRESET              one of them by part, for example llama-2-7b\n"
    "  FILE.gguf           the tensors of a file by part, beside what its metadata adds up to\n"
    "  --where-the-notes-differ\n"
    "                      eight claims of two sets of notes, beside what is computed here\n";

index_t bytes_in_16_bits(const Config& config) {
  return weight_bytes(config, Dtype::bf16, Dtype::bf16);
}

void print_presets() {
  Table table;
  table.add({"preset", "parameters", "bytes in 16 bits", "cache per token"});
  for (const presets::Preset& preset : presets::all) {
    table.add({preset.name, grouped(count_parameters(preset.config).total),
               grouped(bytes_in_16_bits(preset.config)),
               in_units(kv_cache_bytes(preset.config, {}))});
  }
  table.print();
}

void print_dims(const Dims& d) {
  for (const DimsField& field : dims_fields) {
    std::printf("%s%s %lld", field.size == &Dims::layers ? "" : ", ", field.name,
                static_cast<long long>(d.*field.size));
  }
  std::printf("\n");
}

void print_parts(const Config& config) {
  const index_t layers = config.dims.layers;
  const ParameterCount p = count_parameters(config);
  Table parts;
  const auto part = [&](const char* name, index_t of_a_layer, index_t of_all) {
    char share[16];
    std::snprintf(share, sizeof share, "%.2f %%",
                  100 * static_cast<double>(of_all) / static_cast<double>(p.total));
    parts.add({name, of_a_layer > 0 ? grouped(of_a_layer) : "", grouped(of_all), share});
  };
  const auto in_layers = [&](const char* name, index_t of_a_layer) {
    if (of_a_layer > 0) part(name, of_a_layer, layers * of_a_layer);
  };
  const LayerParameters& l = p.layer;
  parts.add({"part", "a layer", "parameters", "share"});
  part("embedding", 0, p.embedding);
  if (p.positions > 0) part("positions", 0, p.positions);
  part("attention", p.attention / layers, p.attention);
  in_layers("  query", l.query);
  in_layers("  key", l.key);
  in_layers("  value", l.value);
  in_layers("  output", l.output);
  in_layers("  biases", l.attention_biases);
  in_layers("  query and key norms", l.qk_norm);
  part("feed-forward", p.feed_forward / layers, p.feed_forward);
  part("norms", l.norms, p.norms);
  part(config.tie_embeddings ? "head (the embedding)" : "head", 0, p.head);
  part("total", l.total, p.total);
  parts.print();
}

void print_sizes(const Config& config) {
  const index_t per_token = kv_cache_bytes(config, {});
  const index_t full = kv_cache_bytes(config, {.tokens = config.context});
  Table sizes;
  sizes.add({"weights in 16 bits", in_units(bytes_in_16_bits(config))});
  sizes.add({"cache of a token in 16 bits", in_units(per_token)});
  sizes.add({"cache of " + grouped(config.context) + " tokens", in_units(full)});
  sizes.add({"training with AdamW, without activations", in_units(training_bytes(config).total)});
  char flops[32];
  std::snprintf(flops, sizeof flops, "%.2f GFLOP", forward_flops(config, {}).total * 1e-9);
  sizes.add({"a token's forward pass", flops});
  sizes.print();
}

void print_preset(const presets::Preset& preset) {
  std::printf("%s\n", preset.name);
  print_dims(preset.config.dims);
  std::printf("\n");
  print_parts(preset.config);
  std::printf("\n");
  print_sizes(preset.config);
}

enum Part { embedding, positions, attention, feed_forward, norms, head, other, part_count };

constexpr const char* part_names[part_count] = {
    "embedding", "positions", "attention", "feed-forward", "norms", "head", "other"};

/// The part that a tensor of this name belongs to.
Part part_of(std::string_view name) {
  const auto has = [name](std::string_view piece) { return name.find(piece) != name.npos; };
  if (name.starts_with("token_embd.")) return embedding;
  if (name.starts_with("position_embd.")) return positions;
  if (name.starts_with("output.")) return head;
  if (has("attn_q_norm") || has("attn_k_norm")) return attention;
  if (has("norm")) return norms;
  if (has(".attn_")) return attention;
  if (has(".ffn_")) return feed_forward;
  return other;
}

void print_file(const std::string& path) {
  const GgufFile file = GgufFile::open(path);
  index_t counted[part_count] = {}, bytes[part_count] = {};
  for (const GgufTensor& tensor : file.tensors()) {
    counted[part_of(tensor.name)] += tensor.elements();
    bytes[part_of(tensor.name)] += tensor.bytes;
  }
  const ParameterCount p = count_parameters(config_from_gguf(file));
  const index_t expected[part_count] = {
      p.embedding, p.positions, p.attention, p.feed_forward, p.norms, p.head, 0};
  Table table;
  table.add({"part", "in the file", "by its metadata", "bytes"});
  for (int i = 0; i < part_count; ++i) {
    if (counted[i] == 0 && expected[i] == 0) continue;
    table.add({part_names[i], grouped(counted[i]), grouped(expected[i]), grouped(bytes[i])});
  }
  const index_t all = std::accumulate(std::begin(counted), std::end(counted), index_t{0});
  table.add({"total", grouped(all), grouped(p.total),
             grouped(std::accumulate(std::begin(bytes), std::end(bytes), index_t{0}))});
  std::printf("%s\n\n", file_title(path).c_str());
  table.print();
  if (const index_t more = all - p.total; more != 0) {
    std::printf("\nThe file holds %s numbers %s than its metadata adds up to.\n",
                grouped(more < 0 ? -more : more).c_str(), more < 0 ? "fewer" : "more");
  }
}

bool run(int argc, char** argv) {
  CommandLine words(argc, argv);
  std::string argument;
  while (!words.done()) {
    const std::string_view word = words.take();
    if (asks_for_help(word)) return false;
    const bool unknown = word.starts_with("-") && word != "--where-the-notes-differ";
    if (!argument.empty() || word.empty() || unknown) refuse(word);
    argument = word;
  }
  if (argument.empty()) {
    print_presets();
  } else if (argument == "--where-the-notes-differ") {
    notes_differ::print();
  } else if (is_file(argument)) {
    print_file(argument);
  } else {
    print_preset(preset_called(argument));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) { return run_main("parameter_count", usage, argc, argv, run); }
