// The sampler with any options, any logits and any recent tokens: an error of the library, or a
// token that could be chosen; the same one every time.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "imbrex/base/token.hpp"
#include "imbrex/generation/sampler.hpp"
#include "tests/fuzz/input.hpp"

using namespace imbrex;
using fuzz::require;

namespace {

/// Mostly a number that makes sense, now and then any at all.
double number(fuzz::Input& input) {
  const unsigned kind = input.below(4);
  if (kind == 0) return input.take<double>();
  if (kind == 1) return input.take<float>();
  return static_cast<double>(input.take<std::uint8_t>()) / (kind == 2 ? 255 : 64);
}

float logit(fuzz::Input& input, bool raw) {
  return raw ? input.take<float>() : static_cast<float>(input.take<std::int8_t>());
}

/// Whether logits can be chosen from: no NaN, no +infinity, one finite number or more.
bool possible(const std::vector<float>& logits) {
  bool finite = false;
  for (const float l : logits) {
    if (std::isnan(l) || l == std::numeric_limits<float>::infinity()) return false;
    finite |= std::isfinite(l);
  }
  return finite;
}

std::optional<token_t> sampled(Sampler& sampler, const std::vector<float>& logits,
                               const std::vector<token_t>& recent) {
  try {
    return sampler.sample(logits, recent);
  } catch (const NumericError&) {
    require(!possible(logits), "logits that can be chosen from are");
  } catch (const ConfigError&) {
    require(possible(logits) && sampler.options().repetition_penalty != 1,
            "a penalty is blamed for what it did");
  } catch (const ShapeError&) {
    require(logits.empty(), "logits are there");
  } catch (const TokenError&) {
    require(!recent.empty(), "no recent token is outside the vocabulary where there is none");
  }
  return std::nullopt;
}

void check_choice(const Sampler& sampler, token_t token, const std::vector<float>& logits) {
  require(token >= 0 && static_cast<std::size_t>(token) < logits.size(), "the token is one");
  require(std::isfinite(logits[static_cast<std::size_t>(token)]), "a token of -infinity is none");
  bool among = false;
  token_t before = -1;
  for (const token_t candidate : sampler.candidates()) {
    require(candidate > before, "candidates ascend");
    before = candidate;
    among |= candidate == token;
  }
  require(among, "the token is one of the candidates");
  const SamplingOptions& o = sampler.options();
  const index_t candidates = static_cast<index_t>(sampler.candidates().size());
  require(o.top_k == 0 || candidates <= o.top_k, "top-k keeps no more than k");
  require(o.temperature != 0 || candidates == 1, "greedy has one candidate");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  SamplingOptions options;
  options.repetition_penalty = number(input);
  options.temperature = number(input);
  options.top_k = input.below(2) == 0 ? input.take<index_t>() : index_t{input.below(20)};
  options.top_p = number(input);
  options.min_p = number(input);
  const std::uint64_t seed = input.take<std::uint8_t>();
  std::vector<token_t> recent(input.below(8));
  for (token_t& id : recent) id = token_t{input.take<std::int8_t>()};
  const unsigned rows = 1 + input.below(3);
  const bool raw = input.below(2) == 0;
  std::vector<float> logits;
  while (!input.empty() && logits.size() < 300) logits.push_back(logit(input, raw));

  std::optional<Sampler> one, other;
  try {
    one.emplace(options, seed);
    other.emplace(options, seed, static_cast<index_t>(logits.size()));
  } catch (const ConfigError&) {
    return 0;
  }
  for (unsigned i = 0; i < rows; ++i) {
    const std::optional<token_t> token = sampled(*one, logits, recent);
    require(token == sampled(*other, logits, recent), "one seed, one sequence");
    if (token) check_choice(*one, *token, logits);
  }
  return 0;
}
