// The two regimes of a decoder: a prompt taken in at once, bound by arithmetic, and tokens made one
// by one, bound by reading the weights; what each costs, and how near it comes to this machine's
// limits.
//
//   prefill_and_decode                           SmolLM2 135M with random weights
//   prefill_and_decode llama-2-7b --counts       what is counted, without running it
//   prefill_and_decode model.gguf --svg roof.svg
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "command_line.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/model/ledger.hpp"
#include "machine_limits.hpp"
#include "model_argument.hpp"
#include "random_model.hpp"
#include "svg.hpp"
#include "table.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: prefill_and_decode [PRESET | FILE.gguf] [options]\n"
    "\n"
    "FLOPs, bytes and time of a prompt's pass and of one more token's.\n"
    "  PRESET          a published decoder with random weights (smollm2-135m)\n"
    "  FILE.gguf       the model in a file\n"
    "  --dtype NAME    format of random weights: F32, F16, BF16, Q8_0, Q4_0 or Q4_1 (BF16)\n"
    "  --prompt N      tokens of the prompt (512)\n"
    "  --counts        only what is counted: no pass is run, nothing is measured\n"
    "  --threads N     threads (all cores)\n"
    "  --svg FILE      draw both against the machine's limits\n";

struct Options {
  std::string model = "smollm2-135m", svg;
  Dtype dtype = Dtype::bf16;
  index_t prompt = 512;
  bool has_dtype = false, counts = false, help = false;
};

/// A pass of `tokens` tokens behind `before` others in the cache.
struct Regime {
  const char* name;
  index_t tokens, before;
  double flops = 0, bytes = 0, seconds = 0;  ///< of the whole pass

  double count() const { return static_cast<double>(tokens); }
  double intensity() const { return flops / bytes; }
};

/// Bytes of the weights that a pass reads: each matrix once, of an embedding that is not the head
/// only the tokens' rows, which are left out.
index_t bytes_read(const Config& config, Dtype dtype) {
  Config tied = config;
  tied.tie_embeddings = true;
  return weight_bytes(tied, dtype, Dtype::f32);
}

index_t bytes_read(const GgufFile& file) {
  const bool untied = file.find_tensor("output.weight") != nullptr;
  index_t bytes = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    if (!(untied && tensor.name == "token_embd.weight")) bytes += tensor.bytes;
  }
  return bytes;
}

/// What a pass has to move at least: the weights once, every key and value it looks at once, and
/// its own keys and values once more, as they are stored. Activations stay in caches.
void count(Regime& regime, const Config& config, index_t weights) {
  const auto cache = [&](index_t tokens) {
    return static_cast<double>(kv_cache_bytes(config, {.tokens = tokens, .dtype = Dtype::f32}));
  };
  regime.flops = forward_flops(config, {regime.tokens, regime.before, 1}).total;
  regime.bytes =
      static_cast<double>(weights) + cache(regime.before + regime.tokens) + cache(regime.tokens);
}

/// The fastest of several passes of each regime, and what the machine can do: its memory is
/// measured between the tokens that it bounds, for others may use it at any moment.
examples::MachineLimits measure(std::vector<Regime>& regimes, const Decoder<>& decoder) {
  examples::MachineLimits limits = examples::measure_limits();
  const index_t prompt = regimes[0].tokens;
  Workspace workspace(decoder, prompt);  // so that the prompt is one pass
  KvCache cache(decoder.config(), prompt + 1);
  Random random(2);
  std::vector<token_t> tokens(static_cast<std::size_t>(prompt));
  for (token_t& token : tokens) {
    token =
        static_cast<token_t>(random() % static_cast<std::uint32_t>(decoder.config().dims.vocab));
  }
  regimes[0].seconds = examples::fastest(2, [&] {
    cache.clear();
    decoder.last_logits(workspace, cache, tokens);
  });
  regimes[1].seconds = 1e300;
  for (int turn = 0; turn < 5; ++turn) {
    const double seconds = examples::fastest(5, [&] {
      cache.truncate(prompt);
      decoder.last_logits(workspace, cache, {tokens.data(), 1});
    });
    regimes[1].seconds = std::fmin(regimes[1].seconds, seconds);
    limits.read_bytes = std::fmax(limits.read_bytes, examples::measure_read_bandwidth());
  }
  return examples::higher(limits, examples::measure_limits());
}

using Cells = std::vector<std::string>;

Cells row(const char* name, const std::vector<Regime>& regimes, int places,
          double (*value)(const Regime&)) {
  Cells cells{name};
  for (const Regime& r : regimes) cells.push_back(examples::decimals(value(r), places));
  return cells;
}

void add_counts(examples::Table& table, const std::vector<Regime>& regimes) {
  Cells names{""};
  for (const Regime& r : regimes) names.push_back(r.name);
  table.add(names);
  table.add(row("tokens of the pass", regimes, 0, [](const Regime& r) { return r.count(); }));
  table.add(row("tokens before it", regimes, 0,
                [](const Regime& r) { return static_cast<double>(r.before); }));
  table.add(
      row("MFLOP a token", regimes, 3, [](const Regime& r) { return r.flops * 1e-6 / r.count(); }));
  table.add(
      row("MB a token", regimes, 3, [](const Regime& r) { return r.bytes * 1e-6 / r.count(); }));
  table.add(row("FLOP a byte", regimes, 3, [](const Regime& r) { return r.intensity(); }));
}

void add_times(examples::Table& table, const std::vector<Regime>& regimes,
               const examples::MachineLimits& limits) {
  table.add(
      row("ms a token", regimes, 3, [](const Regime& r) { return r.seconds * 1e3 / r.count(); }));
  table.add(
      row("tokens a second", regimes, 1, [](const Regime& r) { return r.count() / r.seconds; }));
  table.add(row("GFLOP/s", regimes, 2, [](const Regime& r) { return r.flops * 1e-9 / r.seconds; }));
  table.add(row("GB/s", regimes, 2, [](const Regime& r) { return r.bytes * 1e-9 / r.seconds; }));
  const auto share = [&](const char* name, double Regime::* value, double limit) {
    Cells cells{name};
    for (const Regime& r : regimes) {
      cells.push_back(examples::decimals(100 * (r.*value / r.seconds) / limit, 1) + " %");
    }
    table.add(cells);
  };
  share("of the FMA peak", &Regime::flops, limits.fma_flops);
  share("of the product's speed", &Regime::flops, limits.matmul_flops);
  share("of the read bandwidth", &Regime::bytes, limits.read_bytes);
}

void print_limits(const std::vector<Regime>& regimes, const examples::MachineLimits& limits) {
  const double ridge = limits.fma_flops / limits.read_bytes;
  std::printf(
      "\nThis machine, %s, %d threads: reads %.1f GB/s from memory; multiplies and adds\n"
      "%.0f GFLOP/s in registers, and %.0f in the library's product of 512 x 512 floats.\n"
      "Arithmetic and reading take as long at %.1f FLOP a byte:\n",
      name(active_isa()), threads(), limits.read_bytes * 1e-9, limits.fma_flops * 1e-9,
      limits.matmul_flops * 1e-9, ridge);
  for (const Regime& r : regimes) {
    std::printf("  %-8s is bound by %s\n", r.name,
                r.intensity() > ridge ? "arithmetic" : "reading memory");
  }
  for (const Regime& r : regimes) {
    if (r.bytes / r.seconds > limits.read_bytes) {
      std::printf(
          "  %-8s read faster than the limit: the weights lie in a cache, or others used the\n"
          "           memory whenever the limit was measured; run it again\n",
          r.name);
    }
    if (r.flops / r.seconds > limits.fma_flops) {
      std::printf(
          "  %-8s multiplied faster than the limit of f32: in integers or bf16 (not so with\n"
          "           IMBREX_ARITHMETIC=f32), or others used the processor meanwhile\n",
          r.name);
    }
  }
}

/// The roofline (Williams, Waterman, Patterson 2009): what a program can reach by its intensity.
void draw(const std::vector<Regime>& regimes, const examples::MachineLimits& limits,
          const std::string& path) {
  using examples::Point;
  examples::Picture picture(620, 400, "Prefill and decode against the machine's limits");
  constexpr double low = 0.1, high = 10000;
  double slowest = low * limits.read_bytes * 1e-9;  // the least that there is to draw
  for (const Regime& r : regimes) slowest = std::fmin(slowest, r.flops * 1e-9 / r.seconds);
  examples::Chart chart(picture, {70, 34, 520, 300}, "roofline", {"FLOP a byte", low, high, true},
                        {"GFLOP/s", std::pow(10, std::floor(std::log10(slowest))), 10000, true});
  const double read = limits.read_bytes * 1e-9, peak = limits.fma_flops * 1e-9,
               product = limits.matmul_flops * 1e-9;
  const Point roof[] = {{low, read * low}, {peak / read, peak}, {high, peak}};
  chart.curve(roof, {examples::ink, 2});
  const Point lower[] = {{product / read, product}, {high, product}};
  chart.curve(lower, {examples::ink, 1.5, "5 4"});
  chart.legend({0.03, 0.02}, 0, "memory, then FMA in registers", {examples::ink, 2});
  chart.legend({0.03, 0.02}, 1, "the library's product of f32", {examples::ink, 1.5, "5 4"});
  int colour = 0;
  for (const Regime& r : regimes) {
    const Point at = chart.at({r.intensity(), r.flops * 1e-9 / r.seconds});
    picture.dot(at, 5, examples::colours[colour]);
    picture.text({at.x + 10, at.y + 14}, r.name, {12});
    ++colour;
  }
  picture.write(path);
}

/// A format that `kernels::encode` writes. Throws UsageError.
Dtype dtype_called(const std::string& wanted) {
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_0, Dtype::q4_1}) {
    if (wanted == name(dtype)) return dtype;
  }
  raise(examples::UsageError("--dtype: expected F32, F16, BF16, Q8_0, Q4_0 or Q4_1, got \"" +
                             printable(wanted) + "\""));
}

Options parse(int argc, char** argv) {
  Options a;
  examples::CommandLine line(argc, argv);
  bool named = false;
  while (!line.done()) {
    const std::string_view word = line.take();
    if (word == "--dtype")
      a.dtype = dtype_called(line.value(word)), a.has_dtype = true;
    else if (word == "--prompt")
      a.prompt = line.number<index_t>(word);
    else if (word == "--counts")
      a.counts = true;
    else if (word == "--threads")
      set_threads(line.number<int>(word));
    else if (word == "--svg")
      a.svg = line.file(word);
    else if (examples::asks_for_help(word))
      a.help = true;
    else if (named || word.starts_with("-"))
      examples::refuse(word);
    else
      a.model = word, named = true;
  }
  if (a.help) return a;
  if (a.has_dtype && examples::is_file(a.model)) {
    raise(examples::UsageError("--dtype: a file's weights have formats of their own"));
  }
  if (a.counts && !a.svg.empty()) {
    raise(examples::UsageError("--svg: expected no --counts with it: see --help"));
  }
  return a;
}

/// What a pass of the prompt allocates: activations, the cache, and weights unless a file has them.
double bytes_allocated(const Config& config, const Options& a) {
  const index_t workspace = workspace_bytes(config, {.rows = a.prompt});
  const index_t cache = kv_cache_bytes(config, {.tokens = a.prompt + 1, .dtype = Dtype::f32});
  const index_t weights =
      examples::is_file(a.model) ? 0 : weight_bytes(config, a.dtype, Dtype::f32);
  return static_cast<double>(weights) + static_cast<double>(workspace) + static_cast<double>(cache);
}

/// Throws where that would fill more than four fifths of the machine's memory.
void check_memory(const Config& config, const Options& a) {
  const double bytes = bytes_allocated(config, a);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0.8 * memory) return;
  raise(CapacityError(
      "the pass takes " + examples::in_units(static_cast<index_t>(std::fmin(bytes, 9e18))) +
      ", the machine has " + examples::in_units(static_cast<index_t>(memory)) + "; see --counts"));
}

void run_passes(const Options& a) {
  active_isa();  // a wrong IMBREX_ISA is told first
  const bool from_file = examples::is_file(a.model);
  std::optional<GgufFile> file;
  if (from_file) file = GgufFile::open(a.model);
  const Config config =
      from_file ? config_from_gguf(*file) : examples::preset_called(a.model).config;
  if (config.context < 2)
    raise(ConfigError("context", std::to_string(config.context), "2 or more"));
  if (a.prompt < 1 || a.prompt >= config.context) {
    raise(ConfigError("--prompt", std::to_string(a.prompt),
                      "1 to " + std::to_string(config.context - 1) + ", for one token more"));
  }
  const index_t weights = from_file ? bytes_read(*file) : bytes_read(config, a.dtype);
  std::vector<Regime> regimes = {{"prefill", a.prompt, 0}, {"decode", 1, a.prompt}};
  for (Regime& regime : regimes) count(regime, config, weights);
  const std::string title =
      from_file ? examples::file_title(a.model) : a.model + " in " + name(a.dtype);

  std::printf("%s: %s of weights, %s of keys and values a token\n\n", title.c_str(),
              examples::in_units(weights).c_str(),
              examples::in_units(kv_cache_bytes(config, {.dtype = Dtype::f32})).c_str());
  examples::Table table;
  add_counts(table, regimes);
  if (a.counts) return table.print();
  check_memory(config, a);
  const examples::MachineLimits limits =
      measure(regimes, from_file ? load(*file) : examples::random_decoder(config, a.dtype));
  add_times(table, regimes, limits);
  table.print();
  print_limits(regimes, limits);
  if (!a.svg.empty()) draw(regimes, limits, a.svg);
}

bool run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (!options.help) run_passes(options);
  return !options.help;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("prefill_and_decode", usage, argc, argv, run);
}
