// Choosing the next token from the logits.
//
// The order is repetition penalty, temperature, top-k, top-p, min-p: that of the transformers
// library, with which the values published beside a checkpoint were chosen. So top-p and min-p see
// the probabilities at that temperature (a hot distribution has a wider nucleus), and top-p those
// among the k tokens that top-k left. (llama.cpp by default puts temperature last.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/generation/sampling_options.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Chooses tokens; one seed gives one sequence, on every platform.
///
/// The draw is the inverse of the cumulative distribution, in integers: the weight of a token is
/// w_i = round(2^40 exp((l_i - l_max) / T)), W their sum over the tokens that stay; with u from
/// Random(seed), 53 bits uniform in [0, 1), the token is the first, by ascending id, with
/// w_0 + ... + w_i > floor(u W). Sums of integers are exact in any order, and nothing of `<random>`
/// is used, whose distributions differ between standard libraries. A token less likely than
/// 2^-41 of the most likely one is never drawn. Filters that remove nothing change nothing.
class Sampler {
 public:
  /// Throws ConfigError where an option is outside its range. With the size of the vocabulary, no
  /// call of `sample` allocates; without it, the first one does.
  explicit Sampler(SamplingOptions options = {}, std::uint64_t seed = 0, index_t vocabulary = 0)
      : options_(options), random_(seed) {
    check(options_);
    if (vocabulary > 0) make_room(static_cast<std::size_t>(vocabulary));
  }

  /// The next token for logits[Vocab]; `recent` are the tokens that the repetition penalty looks
  /// at, in any order. Ties go to the lower id. One number is drawn per call, none at temperature
  /// 0. Throws ShapeError where there are no logits or more than 2^23, NumericError where one is
  /// NaN or +infinity or all are -infinity, ConfigError where the repetition penalty makes such of
  /// finite ones, TokenError where a recent token is outside the vocabulary; the state is then as
  /// before.
  std::int32_t sample(std::span<const float> logits, std::span<const std::int32_t> recent = {}) {
    check_inputs(logits, recent);
    make_room(logits.size());
    std::copy(logits.begin(), logits.end(), scores_.begin());
    penalize(recent);
    const std::int32_t best = find_best(logits);
    if (options_.temperature == 0) {
      kept_.assign(1, best);
      return best;
    }
    keep_all();
    keep_top_k();
    weigh(scores_[at(best)]);
    keep_top_p();
    keep_min_p();
    return draw();
  }

  /// The options as they were given.
  const SamplingOptions& options() const { return options_; }

  /// The tokens that the last call chose among, ascending; valid until the next call.
  std::span<const std::int32_t> candidates() const { return kept_; }

 private:
  static constexpr std::size_t most_logits = std::size_t{1} << 23;  // 2^23 2^40 = 2^63
  static constexpr double weight_of_best = 0x1p40;
  // Logits are floats, so masses are known to about 1e-7: one that is p to the last digits counts
  // as p. (Of 0.5, 0.3, 0.1, 0.1 and p = 0.8 two tokens stay, not three.)
  static constexpr double mass_slack = 1e-6;

  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

  static void check_inputs(std::span<const float> logits, std::span<const std::int32_t> recent) {
    if (logits.empty() || logits.size() > most_logits) {
      raise(ShapeError("sample(logits): logits[Vocab=" + std::to_string(logits.size()) +
                       "]: expected 1 to 2^23"));
    }
    for (const std::int32_t id : recent) {
      if (id >= 0 && at(id) < logits.size()) continue;
      raise(TokenError("sample(logits, recent): token " + std::to_string(id) +
                       ": the vocabulary has the tokens 0 to " +
                       std::to_string(logits.size() - 1)));
    }
  }

  void make_room(std::size_t vocabulary) {
    if (scores_.size() == vocabulary) return;
    scores_.resize(vocabulary);
    weights_.resize(vocabulary);
    seen_.assign(vocabulary, false);
    kept_.reserve(vocabulary);
    heap_.reserve(vocabulary);
  }

  /// l <= 0 ? l p : l / p, once per distinct token.
  void penalize(std::span<const std::int32_t> recent) {
    if (options_.repetition_penalty == 1) return;
    const float p = static_cast<float>(options_.repetition_penalty);
    for (const std::int32_t id : recent) {
      if (seen_[at(id)]) continue;
      seen_[at(id)] = true;
      float& l = scores_[at(id)];
      l = l <= 0 ? l * p : l / p;
    }
    for (const std::int32_t id : recent) seen_[at(id)] = false;
  }

  std::int32_t find_best(std::span<const float> logits) const {
    std::size_t best = 0;
    bool bad = false;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      bad |= std::isnan(scores_[i]);
      if (scores_[i] > scores_[best]) best = i;
    }
    if (bad || std::isinf(scores_[best])) fail(logits);
    return static_cast<std::int32_t>(best);
  }

  [[noreturn, gnu::cold]] void fail(std::span<const float> logits) const {
    bool possible = false;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      possible |= std::isfinite(logits[i]);
      if (!std::isnan(logits[i]) && logits[i] != std::numeric_limits<float>::infinity()) continue;
      raise(NumericError("sample(logits): logit " + std::to_string(i) + " is " +
                         (std::isnan(logits[i]) ? "NaN" : "+infinity") +
                         ": expected finite numbers or -infinity"));
    }
    if (possible) fail_penalty();
    raise(NumericError("sample(logits): all " + std::to_string(logits.size()) +
                       " logits are -infinity: no token is possible"));
  }

  /// The logits were all right; what the penalty made of them is not.
  [[noreturn, gnu::cold]] void fail_penalty() const {
    char penalty[32];
    std::snprintf(penalty, sizeof penalty, "%g", options_.repetition_penalty);
    raise(ConfigError("repetition_penalty", penalty, "one nearer to 1: it makes logits infinite"));
  }

  /// Whether token a is more likely than b: a total order, also among equals.
  bool ranks_before(std::int32_t a, std::int32_t b) const {
    const float x = scores_[at(a)], y = scores_[at(b)];
    return x != y ? x > y : a < b;
  }

  void keep_all() {
    kept_.clear();
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (std::isfinite(scores_[i])) kept_.push_back(static_cast<std::int32_t>(i));
    }
  }

  void keep_top_k() {
    if (options_.top_k == 0 || options_.top_k >= static_cast<index_t>(kept_.size())) return;
    const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(options_.top_k);
    std::nth_element(kept_.begin(), end - 1, kept_.end(),
                     [this](std::int32_t a, std::int32_t b) { return ranks_before(a, b); });
    kept_.erase(end, kept_.end());
    std::sort(kept_.begin(), kept_.end());
  }

  void weigh(float best) {
    for (const std::int32_t id : kept_) {
      const double x = (double{scores_[at(id)]} - double{best}) / options_.temperature;
      weights_[at(id)] = static_cast<std::uint64_t>(weight_of_best * std::exp(x) + 0.5);
    }
  }

  /// Takes tokens off a heap, the most likely first, until their mass reaches p. The vocabulary is
  /// never sorted as a whole.
  void keep_top_p() {
    if (options_.top_p >= 1) return;
    const double wanted = static_cast<double>(total()) * (options_.top_p - mass_slack);
    const auto after = [this](std::int32_t a, std::int32_t b) { return ranks_before(b, a); };
    heap_.assign(kept_.begin(), kept_.end());
    std::make_heap(heap_.begin(), heap_.end(), after);
    std::int32_t last = heap_.front();
    std::uint64_t mass = 0;
    while (!heap_.empty() && (mass == 0 || static_cast<double>(mass) < wanted)) {
      std::pop_heap(heap_.begin(), heap_.end(), after);
      last = heap_.back();
      heap_.pop_back();
      mass += weights_[at(last)];
    }
    std::erase_if(kept_, [&](std::int32_t id) { return ranks_before(last, id); });
  }

  void keep_min_p() {
    if (options_.min_p == 0) return;
    // With the slack, a token exactly as likely as asked stays.
    const std::uint64_t least =
        static_cast<std::uint64_t>(weight_of_best * options_.min_p * (1 - mass_slack));
    std::erase_if(kept_, [&](std::int32_t id) { return weights_[at(id)] < least; });
  }

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::int32_t id : kept_) sum += weights_[at(id)];
    return sum;
  }

  std::int32_t draw() {
    const std::uint64_t sum = total();
    // u < 1, but the product may round up to the sum.
    const std::uint64_t place = (std::min)(
        static_cast<std::uint64_t>(random_.uniform_double() * static_cast<double>(sum)), sum - 1);
    std::uint64_t below = 0;
    for (const std::int32_t id : kept_) {
      below += weights_[at(id)];
      if (below > place) return id;
    }
    return kept_.back();
  }

  SamplingOptions options_;
  Random random_;
  std::vector<float> scores_;           // logits with the penalty
  std::vector<std::uint64_t> weights_;  // of the tokens kept
  std::vector<bool> seen_;
  std::vector<std::int32_t> kept_;  // ids, ascending
  std::vector<std::int32_t> heap_;
};

}  // namespace imbrex::inline IMBREX_ABI
