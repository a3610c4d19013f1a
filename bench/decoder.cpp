// Whole passes of a decoder with SmolLM2 135M's sizes and random weights, in two formats; and of
// the model in the file that the environment variable IMBREX_MODEL names, where it is set.
//
//     token/1, token/8     one more token of one sequence, and of eight at once, behind 128 others
//     prompt/1, prompt/8   a prompt of 256 tokens, and eight of 32
//
// `tokens` a second; bytes of weights a second (each is read once a pass); FLOP as the ledger
// counts them. Nothing is done to make the weights cold: a model that fits the caches is in them.
//
// Answers are checked for each model once: five tokens at once, one by one, and as the next tokens
// of five sequences give the logits of a decoder of plain loops in double; and the timed prompt's
// logits are those of another way through it. In floats, and in the arithmetic that is timed.
#include <cmath>
#include <functional>
#include <memory>

#include "bench/harness.hpp"
#include "examples/random_model.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"
#include "tests/model/plain_decoder.hpp"

using namespace imbrex;

namespace {

using Tokens = std::vector<token_t>;

constexpr index_t prompt_tokens = 256, tokens_before = 128;

/// A model, and what is wrong with it; "" if nothing.
struct Subject {
  Subject(const Config& config, const DecoderWeights& w) : weights(w), decoder(config, w) {
    Random random(3);
    for (index_t i = 0; i < prompt_tokens; ++i) {
      tokens.push_back(
          static_cast<token_t>(random.uniform() * static_cast<float>(config.dims.vocab)));
    }
    problem = check();
  }

  std::string check() const;

  DecoderWeights weights;
  Decoder<> decoder;
  Tokens tokens;
  std::string problem;
};

std::span<const token_t> part(const Tokens& tokens, index_t first, index_t count) {
  return std::span(tokens).subspan(static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(count));
}

/// How far two ways through a decoder may be apart, relative to the row of logits: six products a
/// layer and the head, errors of random sign, sqrt(n) u each; both ways err. Where activations are
/// rounded to int8, a product is off by 0.7 % besides: steps of max / 127 with a max of 3 standard
/// deviations, over sqrt(12); from product to product of random sign, too.
double tolerance(const Dims& dims) {
  const index_t n = greater(greater(dims.model, dims.hidden), dims.heads * dims.head_dim);
  const double products = static_cast<double>(6 * dims.layers + 1);
  const double rounding = active_arithmetic() == Arithmetic::f32 ? 0 : 7e-3 * std::sqrt(products);
  return 2 * (products * std::sqrt(static_cast<double>(n)) * tests::unit_roundoff + rounding);
}

/// |got - want| / |want|.
template <class Number>
double distance(const float* got, const std::vector<Number>& want) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double g = double{got[i]}, w = double{want[i]};
    difference += (g - w) * (g - w);
    size += w * w;
  }
  return std::sqrt(difference / size);
}

/// "" or what is wrong with a row.
template <class Number>
std::string compare(const std::string& what, const float* got, const std::vector<Number>& want,
                    double allowed) {
  const double error = distance(got, want);
  if (error <= allowed) return "";
  return what + ": the logits are off by " + std::to_string(error) + ", allowed " +
         std::to_string(allowed);
}

/// Five tokens in three ways, against plain loops.
std::string check_plain(const Subject& s) {
  constexpr index_t count = 5;
  const Config& config = s.decoder.config();
  if (config.activation != Activation::silu || config.feed_forward != FeedForwardKind::gated ||
      config.norm != NormKind::rms_norm) {
    return "no plain decoder to check this model with";
  }
  const index_t vocab = config.dims.vocab;
  const double allowed = tolerance(config.dims);
  const std::span<const token_t> some = part(s.tokens, 0, count);
  const tests::Rows want = tests::PlainDecoder(config, s.weights)(Tokens(some.begin(), some.end()));
  Workspace workspace(s.decoder, count, count);
  std::vector<KvCache> caches;
  for (index_t i = 0; i < count; ++i) caches.emplace_back(config, count);
  std::string problem;
  const auto hold = [&](const char* way, index_t row, const float* got) {
    if (!problem.empty()) return;
    problem = compare(std::string(way) + ", token " + std::to_string(row), got,
                      want[static_cast<std::size_t>(row)], allowed);
  };
  const auto all = s.decoder.all_logits(workspace, caches[0], some);
  for (index_t i = 0; i < count; ++i) hold("at once", i, all.data() + i * vocab);
  for (index_t i = 0; i < count; ++i) {
    caches[0].truncate(i);
    const auto logits = s.decoder.last_logits(workspace, caches[0], part(s.tokens, i, 1));
    hold("one by one", i, logits.data());
  }
  std::vector<SequenceInput> inputs;  // sequence i has i tokens, and gets one more
  for (index_t i = 0; i < count; ++i) {
    KvCache& cache = caches[static_cast<std::size_t>(i)];
    cache.clear();
    if (i > 0) s.decoder.last_logits(workspace, cache, part(s.tokens, 0, i));
    inputs.push_back({part(s.tokens, i, 1), &cache});
  }
  const auto logits = s.decoder.last_logits(workspace, inputs);
  for (index_t i = 0; i < count; ++i) hold("five sequences", i, logits.data() + i * vocab);
  return problem;
}

/// The prompt at once, as it is timed, against chunks of 100 tokens and the last four one by one.
std::string check_prompt(const Subject& s) {
  const Config& config = s.decoder.config();
  Workspace large(s.decoder, prompt_tokens), chunked(s.decoder, 100);
  KvCache cache(config, prompt_tokens), other(config, prompt_tokens);
  const auto got = s.decoder.last_logits(large, cache, s.tokens);
  constexpr index_t split = prompt_tokens - 4;
  s.decoder.last_logits(chunked, other, part(s.tokens, 0, split));
  std::vector<float> want;
  for (index_t i = split; i < prompt_tokens; ++i) {
    const auto logits = s.decoder.last_logits(chunked, other, part(s.tokens, i, 1));
    want.assign(logits.data(), logits.data() + config.dims.vocab);
  }
  return compare("a prompt at once", got.data(), want, tolerance(config.dims));
}

/// In floats, and in the arithmetic that is timed.
std::string Subject::check() const {
  const Arithmetic timed = active_arithmetic();
  std::string found;
  for (const Arithmetic arithmetic : {Arithmetic::f32, timed}) {
    use_arithmetic(arithmetic);
    if (found.empty()) found = check_plain(*this);
    if (found.empty()) found = check_prompt(*this);
  }
  return found;
}

/// Times passes of `count` sequences with `fresh` new tokens each, behind `before` others.
void time_pass(benchmark::State& state, const Subject& s, index_t count, index_t fresh,
               index_t before) {
  if (!s.problem.empty()) return bench::fail(state, s.problem);
  const Config& config = s.decoder.config();
  Workspace workspace(s.decoder, greater(count * fresh, before), count);
  std::vector<KvCache> caches;
  std::vector<SequenceInput> inputs;
  caches.reserve(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    caches.emplace_back(config, before + fresh);
    if (before > 0) s.decoder.last_logits(workspace, caches.back(), part(s.tokens, i, before));
    inputs.push_back({part(s.tokens, i * fresh, fresh), &caches.back()});
  }
  for ([[maybe_unused]] auto _ : state) {
    for (KvCache& cache : caches) cache.truncate(before);
    benchmark::DoNotOptimize(s.decoder.last_logits(workspace, inputs).data());
  }
  bench::count(state, static_cast<double>(count) * forward_flops(config, {fresh, before, 1}).total,
               static_cast<double>(s.decoder.bytes_per_token()));
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(count * fresh),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

using Maker = std::function<std::shared_ptr<const Subject>()>;

/// Adds a model's benchmarks; make() makes it when the first of them is run. One model is kept at
/// a time.
void add_model(const std::string& name, const Maker& make) {
  static std::shared_ptr<const Subject> now;
  static std::string now_name;
  const auto add_pass = [&](const std::string& title, index_t count, index_t fresh,
                            index_t before) {
    bench::add(name + title, [=](benchmark::State& state) {
      if (now_name != name) {
        now = nullptr;
        now = make();
        now_name = name;
      }
      time_pass(state, *now, count, fresh, before);
    });
  };
  for (const index_t count : {1, 8}) {
    add_pass("/token/" + std::to_string(count), count, 1, tokens_before);
  }
  for (const index_t count : {1, 8}) {
    add_pass("/prompt/" + std::to_string(count), count, prompt_tokens / count, 0);
  }
}

void add_all() {
  const Config config = presets::smollm2_135m;
  for (const Dtype dtype : {Dtype::bf16, Dtype::q4_0}) {
    add_model("smollm2/" + std::string(name(dtype)), [=] {
      return std::make_shared<const Subject>(config, examples::random_weights(config, dtype));
    });
  }
  const char* path = std::getenv("IMBREX_MODEL");
  if (path == nullptr || *path == '\0') return;
  const GgufFile file = GgufFile::open(path);  // whatever is wrong with it is told first
  add_model("file", [=] {
    const Config of_file = config_from_gguf(file);
    return std::make_shared<const Subject>(of_file, read_gguf_weights(file, of_file));
  });
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
