// Choosing a token from the logits of a vocabulary of 49152 (SmolLM2) and of 128256 (Llama 3):
// logits a second. Logits are normal with a deviation of 3, which leaves a few thousand tokens in
// the nucleus of top-p; the more peaked a model's are, the fewer, and the less top-p costs.
#include <cmath>
#include <numeric>

#include "bench/harness.hpp"
#include "imbrex/generation/sampler.hpp"

using namespace imbrex;

namespace {

constexpr std::uint64_t seed = 7;

using Ids = std::vector<std::int32_t>;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

std::vector<float> random_logits(index_t vocabulary) {
  Random random(1);
  std::vector<float> logits(static_cast<std::size_t>(vocabulary));
  for (float& l : logits) l = 3 * random.normal();
  return logits;
}

/// What Sampler says it does, by sorting: the tokens that stay, ascending, and their weights.
struct Plain {
  Plain(const std::vector<float>& logits, const SamplingOptions& o)
      : ids(logits.size()), weights(logits.size()) {
    std::iota(ids.begin(), ids.end(), 0);
    std::sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
      return logits[at(a)] != logits[at(b)] ? logits[at(a)] > logits[at(b)] : a < b;
    });
    const std::int32_t best = ids.front();
    if (o.temperature == 0) {
      ids.resize(1);
      return;
    }
    for (const std::int32_t id : ids) {
      const double x = (double{logits[at(id)]} - double{logits[at(best)]}) / o.temperature;
      weights[at(id)] = static_cast<std::uint64_t>(0x1p40 * std::exp(x) + 0.5);
    }
    if (o.top_k > 0) ids.resize((std::min)(ids.size(), static_cast<std::size_t>(o.top_k)));
    if (o.top_p < 1) {
      const double wanted = (o.top_p - 1e-6) * static_cast<double>(total());
      std::uint64_t mass = 0;
      std::size_t kept = 0;
      while (static_cast<double>(mass) < wanted) mass += weights[at(ids[kept++])];
      ids.resize(kept);
    }
    const double least = o.min_p * (1 - 1e-6) * static_cast<double>(weights[at(best)]);
    std::erase_if(ids, [&](std::int32_t id) {
      return static_cast<double>(weights[at(id)]) < std::floor(least);
    });
    std::sort(ids.begin(), ids.end());
  }

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::int32_t id : ids) sum += weights[at(id)];
    return sum;
  }

  /// The first token whose cumulative weight is above u W.
  std::int32_t draw(double u) const {
    if (ids.size() == 1) return ids.front();
    const double place = std::floor(u * static_cast<double>(total()));
    std::uint64_t below = 0;
    for (const std::int32_t id : ids) {
      below += weights[at(id)];
      if (static_cast<double>(below) > place) return id;
    }
    return ids.back();
  }

  Ids ids;
  std::vector<std::uint64_t> weights;
};

void time_sampler(benchmark::State& state, index_t vocabulary, const SamplingOptions& options) {
  const std::vector<float> logits = random_logits(vocabulary);
  Sampler sampler(options, seed, vocabulary);
  const std::int32_t token = sampler.sample(logits);
  const Plain plain(logits, options);
  const std::span<const std::int32_t> kept = sampler.candidates();
  if (!std::equal(kept.begin(), kept.end(), plain.ids.begin(), plain.ids.end())) {
    return bench::fail(state, std::to_string(kept.size()) + " tokens stay, expected " +
                                  std::to_string(plain.ids.size()));
  }
  const std::int32_t wanted = plain.draw(Random(seed).uniform_double());
  if (token != wanted) {
    return bench::fail(state,
                       "token " + std::to_string(token) + ", expected " + std::to_string(wanted));
  }
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(sampler.sample(logits));
  state.counters["logits"] = benchmark::Counter(static_cast<double>(vocabulary),
                                                benchmark::Counter::kIsIterationInvariantRate);
  state.counters["kept"] = static_cast<double>(plain.ids.size());
}

void add_all() {
  const std::pair<const char*, SamplingOptions> ways[] = {
      {"greedy", {.temperature = 0}},
      {"temperature", {.temperature = 0.8}},
      {"top_k", {.temperature = 0.8, .top_k = 50}},
      {"top_p", {.temperature = 0.8, .top_p = 0.95}},
      {"min_p", {.temperature = 0.8, .min_p = 0.05}},
      {"top_k,top_p,min_p", {.temperature = 0.8, .top_k = 50, .top_p = 0.95, .min_p = 0.05}}};
  for (const index_t vocabulary : {49152, 128256}) {
    for (const auto& [name, options] : ways) {
      const SamplingOptions o = options;
      bench::add(std::string(name) + "/" + std::to_string(vocabulary),
                 [=](benchmark::State& state) { time_sampler(state, vocabulary, o); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
