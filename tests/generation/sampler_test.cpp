#include "imbrex/generation/sampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/base/token.hpp"

using namespace imbrex;

namespace {

using Ids = std::vector<std::int32_t>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> logs(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

/// The tokens that a draw would choose among.
Ids kept(const SamplingOptions& options, const std::vector<float>& logits, const Ids& recent = {}) {
  Sampler sampler(options, 1);
  sampler.sample(logits, recent);
  const auto candidates = sampler.candidates();
  return Ids(candidates.begin(), candidates.end());
}

Ids draw(const SamplingOptions& options, std::uint64_t seed, const std::vector<float>& logits,
         int n) {
  Sampler sampler(options, seed);
  Ids ids;
  for (int i = 0; i < n; ++i) ids.push_back(sampler.sample(logits));
  return ids;
}

constexpr SamplingOptions greedy{.temperature = 0};

}  // namespace

TEST_CASE("greedy: the largest logit, of equals the lowest id, nothing divided") {
  Sampler sampler(greedy);
  CHECK(sampler.sample(std::vector<float>{1, 3, 2}) == 1);
  CHECK(sampler.sample(std::vector<float>{1, 3, 3}) == 1);
  CHECK(sampler.sample(std::vector<float>{-5, -5, -5}) == 0);
  CHECK(sampler.sample(std::vector<float>{-infinity, -infinity, -7}) == 2);
  CHECK(sampler.sample(std::vector<float>{0.0f, -0.0f}) == 0);
  CHECK(sampler.sample(std::vector<float>{-3e38f, 3e38f}) == 1);
}

TEST_CASE("top-k: exactly k, ties to the lower id, a k beyond the vocabulary keeps all") {
  const std::vector<float> logits{1, 4, 2, 4, 3};
  CHECK(kept({.top_k = 1}, logits) == Ids{1});
  CHECK(kept({.top_k = 2}, logits) == Ids{1, 3});
  CHECK(kept({.top_k = 3}, logits) == Ids{1, 3, 4});
  CHECK(kept({.top_k = 5}, logits) == Ids{0, 1, 2, 3, 4});
  CHECK(kept({.top_k = 500}, logits) == Ids{0, 1, 2, 3, 4});
  CHECK(kept({.top_k = 0}, logits) == Ids{0, 1, 2, 3, 4});
  CHECK(kept({.top_k = 2}, {7, 7, 7, 7}) == Ids{0, 1});
}

TEST_CASE("top-p: a token stays while the mass before it is below p") {
  CHECK(kept({.top_p = 0.8}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1, 2});
  CHECK(kept({.top_p = 0.8}, logs({0.5, 0.3, 0.1, 0.1})) == Ids{0, 1});  // 0.8 before the third
  CHECK(kept({.top_p = 0.8}, logs({0.1, 0.3, 0.1, 0.5})) == Ids{1, 3});
  CHECK(kept({.top_p = 0}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0});
  CHECK(kept({.top_p = 0.4}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0});
  CHECK(kept({.top_p = 0.41}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1});
  CHECK(kept({.top_p = 0.5}, logs({0.25, 0.25, 0.25, 0.25})) == Ids{0, 1});  // ties by id
  CHECK(kept({.top_p = 0.5}, logs({1})) == Ids{0});
}

TEST_CASE("top-p = 1 keeps all, also where the sum falls short of 1") {
  // In float 1000 times 0.001 sums to 0.99999...: comparing that with 1 must not empty the list.
  const std::vector<float> logits(1000, std::log(0.001f));
  CHECK(kept({.top_p = 1}, logits).size() == 1000);
  // Tokens of a mass too small for the sum stay too.
  CHECK(kept({.top_p = 1}, {0, -60, -1000}) == Ids{0, 1, 2});
}

TEST_CASE("top-k, then top-p among what is left, renormalised") {
  // Of 0.4, 0.3, 0.2, 0.1 the first two, 4/7 and 3/7: 0.57 < 0.6 keeps the second as well.
  CHECK(kept({.top_k = 2, .top_p = 0.6}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1});
  CHECK(kept({.top_k = 2, .top_p = 0.55}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0});
  // Without the renormalisation the two would have 0.7, and p = 0.9 would never be reached.
  CHECK(kept({.top_k = 2, .top_p = 0.9}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1});
}

TEST_CASE("min-p: a fraction of the most likely token's probability") {
  CHECK(kept({.min_p = 0.5}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1, 2});  // 0.2 = 0.5 * 0.4
  CHECK(kept({.min_p = 0.51}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1});
  CHECK(kept({.min_p = 1}, logs({0.3, 0.4, 0.3})) == Ids{1});
  CHECK(kept({.min_p = 0}, logs({0.4, 0.3, 0.2, 0.1})) == Ids{0, 1, 2, 3});
}

TEST_CASE("temperature comes before top-p and min-p") {
  // At T = 2 the odds 16 : 4 : 1 become 4 : 2 : 1.
  const std::vector<float> logits = logs({16, 4, 1});
  CHECK(kept({.top_p = 0.7}, logits) == Ids{0});                       // 16/21 = 0.76
  CHECK(kept({.temperature = 2, .top_p = 0.7}, logits) == Ids{0, 1});  // 4/7 = 0.57
  CHECK(kept({.min_p = 0.4}, logits) == Ids{0});
  CHECK(kept({.temperature = 2, .min_p = 0.4}, logits) == Ids{0, 1});
}

TEST_CASE("repetition penalty: divides what is positive, multiplies what is not, once") {
  // {2, -2} at 1.5 become {1.3333, -3}: greedy sees it against a third logit on either side.
  const SamplingOptions options{.repetition_penalty = 1.5, .temperature = 0};
  const auto best = [&](const std::vector<float>& logits, const Ids& recent) {
    return Sampler(options).sample(logits, recent);
  };
  CHECK(best({2, 1.3332f}, {0}) == 0);
  CHECK(best({2, 1.3334f}, {0}) == 1);
  CHECK(best({-2, -2.9999f}, {0}) == 1);
  CHECK(best({-2, -3.0001f}, {0}) == 0);
  CHECK(best({2, 1.3332f}, {0, 0, 0}) == 0);  // three times seen, once penalised
  CHECK(best({2, 1.3332f}, {}) == 0);
  CHECK(best({0, -0.1f}, {0}) == 0);  // zero stays
  // What was seen in one call is forgotten in the next.
  Sampler sampler(options);
  CHECK(sampler.sample(std::vector<float>{2, 1.9f}, Ids{0}) == 1);
  CHECK(sampler.sample(std::vector<float>{2, 1.9f}, Ids{}) == 0);
  CHECK(sampler.sample(std::vector<float>{2, 1.9f}, Ids{0}) == 1);
}

TEST_CASE("repetition penalty: a model that repeats is made to stop") {
  // "dog dog dog": the same logits again and again.
  const std::vector<float> logits{1.0f, 0.95f, 0.9f};
  Sampler sampler({.repetition_penalty = 1.2, .temperature = 0});
  Ids text;
  for (int i = 0; i < 3; ++i) text.push_back(sampler.sample(logits, text));
  CHECK(text == Ids{0, 1, 2});
}

TEST_CASE("logits that no token can be chosen from") {
  for (const double temperature : {0.0, 1.0}) {
    Sampler sampler({.temperature = temperature}, 5);
    const auto sample = [&](std::vector<float> logits) { return sampler.sample(logits); };
    CHECK_THROWS_WITH_AS(sample({1, not_a_number, 2}),
                         "sample(logits): logit 1 is NaN: expected finite numbers or -infinity",
                         NumericError);
    CHECK_THROWS_AS(sample({not_a_number, 1}), NumericError);
    CHECK_THROWS_AS(sample({not_a_number, not_a_number}), NumericError);
    CHECK_THROWS_AS(sample({1, infinity}), NumericError);
    CHECK_THROWS_WITH_AS(sample({-infinity, -infinity}),
                         "sample(logits): all 2 logits are -infinity: no token is possible",
                         NumericError);
    CHECK_THROWS_AS(sample({}), ShapeError);
    CHECK(sample({-infinity, 1}) == 1);  // the sampler goes on
  }
}

TEST_CASE("repetition penalty: one that makes logits infinite is what is blamed") {
  Sampler small({.repetition_penalty = 1.2e-38, .temperature = 0});
  const std::vector<float> logits{2, 10, 3};
  const std::vector<token_t> recent{1};
  CHECK_THROWS_WITH_AS(
      small.sample(logits, recent),
      "repetition_penalty = 1.2e-38: expected one nearer to 1: it makes logits infinite",
      ConfigError);
  Sampler large({.repetition_penalty = 1e38, .temperature = 0});
  CHECK_THROWS_WITH_AS(
      large.sample(std::vector<float>{-100}, std::vector<token_t>{0}),
      "repetition_penalty = 1e+38: expected one nearer to 1: it makes logits infinite",
      ConfigError);
  // Logits that were not all right before are blamed themselves.
  CHECK_THROWS_WITH_AS(small.sample(std::vector<float>{2, not_a_number}, recent),
                       "sample(logits): logit 1 is NaN: expected finite numbers or -infinity",
                       NumericError);
}

TEST_CASE("a call that throws draws no number") {
  const std::vector<float> logits(16, 0.0f);
  Sampler disturbed({}, 3), calm({}, 3);
  for (int i = 0; i < 20; ++i) {
    CHECK_THROWS_AS(disturbed.sample(std::vector<float>{not_a_number}), NumericError);
    CHECK(disturbed.sample(logits) == calm.sample(logits));
  }
}

TEST_CASE("a recent token outside the vocabulary") {
  Sampler sampler({.repetition_penalty = 1.1});
  const std::vector<float> logits{1, 2};
  CHECK_THROWS_WITH_AS(sampler.sample(logits, Ids{2}),
                       "sample(logits, recent): token 2: the vocabulary has the tokens 0 to 1",
                       TokenError);
  CHECK_THROWS_AS(sampler.sample(logits, Ids{-1}), TokenError);
}

TEST_CASE("options outside their ranges") {
  const auto refused = [](SamplingOptions o) { CHECK_THROWS_AS(Sampler{o}, ConfigError); };
  for (const double bad : {-1.0, std::nan(""), static_cast<double>(infinity)}) {
    refused({.repetition_penalty = bad});
    refused({.temperature = bad});
    refused({.top_p = bad});
    refused({.min_p = bad});
  }
  refused({.repetition_penalty = 0});
  refused({.repetition_penalty = 1e300});
  refused({.top_p = 1.001});
  refused({.min_p = 1.001});
  refused({.top_k = -1});
  CHECK_THROWS_WITH_AS(Sampler({.top_p = 1.5}), "top_p = 1.500000: expected 0 to 1", ConfigError);
}

// Random(42) draws, as the paper's Philox4x32-10 with the key (42, 0) and the counters 0, 1, ...
// gives them, two words to a number: u = 0.61296, 0.07323, 0.98772, 0.51391, 0.82587, 0.60274,
// 0.72960, 0.58640, 0.32642, 0.32274, 0.31485, 0.05178, 0.22548, 0.47918, 0.35836, 0.09034.
TEST_CASE("one seed, one sequence: equal logits give floor(4 u)") {
  CHECK(draw({}, 42, {0, 0, 0, 0}, 16) == Ids{2, 0, 3, 2, 3, 2, 2, 2, 1, 1, 1, 0, 0, 1, 1, 0});
  // The key (0, 0): the first block is Random123's known answer 6627e8d5 e169c58d bc57ac4c
  // 9b00dbd8, so u = 0x6627e8d5... / 2^32 = 0.39905 and 0xbc57ac4c... / 2^32 = 0.73571.
  CHECK(draw({}, 0, {5, 5, 5, 5}, 8) == Ids{1, 2, 3, 2, 0, 0, 3, 2});
}

TEST_CASE("one seed, one sequence: unequal logits") {
  // Cumulative 0.5, 0.75, 0.875, 1 over the numbers above.
  const std::vector<float> logits = logs({0.5, 0.25, 0.125, 0.125});
  CHECK(draw({}, 42, logits, 16) == Ids{1, 0, 3, 1, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  // In another order of the tokens, by id: 0.125, 0.25, 0.5, 1.
  CHECK(draw({}, 42, logs({0.125, 0.125, 0.25, 0.5}), 8) == Ids{3, 0, 3, 3, 3, 3, 3, 3});
}

TEST_CASE("filters that remove nothing leave the sequence as it is") {
  Random random(9);
  std::vector<float> logits(500);
  for (float& l : logits) l = 4 * random.uniform();
  const Ids plain = draw({}, 7, logits, 200);
  CHECK(draw({.top_k = 500}, 7, logits, 200) == plain);
  CHECK(draw({.top_p = 1}, 7, logits, 200) == plain);
  CHECK(draw({.min_p = 1e-9}, 7, logits, 200) == plain);
  CHECK(draw({.repetition_penalty = 3}, 7, logits, 200) == plain);  // nothing recent
  CHECK(draw({}, 8, logits, 200) != plain);
}

TEST_CASE("filters draw from the renormalised rest") {
  // Top 2 of 0.4, 0.3, ... with the numbers above against 4/7 = 0.571.
  CHECK(draw({.top_k = 2}, 42, logs({0.4, 0.3, 0.2, 0.1}), 10) ==
        Ids{1, 0, 1, 0, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("draws are as frequent as they are likely") {
  const std::vector<double> p{0.5, 0.2, 0.15, 0.1, 0.05};
  std::vector<double> seen(p.size());
  constexpr int n = 100000;
  for (const std::int32_t id : draw({}, 1234, logs(p), n)) ++seen[static_cast<std::size_t>(id)];
  for (std::size_t i = 0; i < p.size(); ++i) {
    // Five standard deviations of the binomial distribution.
    CHECK(std::abs(seen[i] - n * p[i]) < 5 * std::sqrt(n * p[i] * (1 - p[i])));
  }
}

TEST_CASE("extreme temperatures") {
  CHECK(draw({.temperature = 1e-300}, 3, {1, 2, 1.9999f}, 20) == Ids(20, 1));
  // So hot that all are equally likely: floor(4 u) again.
  CHECK(draw({.temperature = 1e300}, 42, {3, -5, 80, 0}, 8) == Ids{2, 0, 3, 2, 3, 2, 2, 2});
}

TEST_CASE("-infinity is never drawn, and not counted by top-k") {
  CHECK(kept({}, {-infinity, 1, -infinity, 2}) == Ids{1, 3});
  CHECK(kept({.top_k = 3}, {-infinity, 1, -infinity, 2}) == Ids{1, 3});
}

TEST_CASE("a large vocabulary: the nucleus equals that of a full sort") {
  Random random(21);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> logits(5000);
    for (float& l : logits) l = std::floor(20 * random.uniform()) / 4;  // many ties
    const double p = 0.05 + 0.9 * random.uniform_double();
    Ids order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    const auto logit = [&](std::int32_t id) { return logits[static_cast<std::size_t>(id)]; };
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; });
    double sum = 0;
    for (const float l : logits) sum += std::exp(double{l});
    double before = 0;
    Ids expected;
    for (const std::int32_t id : order) {
      if (before >= (p - 1e-6) * sum) break;
      expected.push_back(id);
      before += std::exp(double{logit(id)});
    }
    std::sort(expected.begin(), expected.end());
    CHECK(kept({.top_p = p}, logits) == expected);
  }
}

TEST_CASE("calls do not move the sampler's room") {
  // Candidates live in a buffer of the vocabulary's size from the start: no call replaces it.
  Sampler sampler({.top_k = 40, .top_p = 0.9, .min_p = 0.01}, 1, 1000);
  Random random(4);
  std::vector<float> logits(1000);
  const std::int32_t* room = nullptr;
  for (int i = 0; i < 50; ++i) {
    for (float& l : logits) l = 8 * random.uniform();
    sampler.sample(logits, Ids{1, 2, 3});
    if (room == nullptr) room = sampler.candidates().data();
    CHECK(sampler.candidates().data() == room);
  }
}
