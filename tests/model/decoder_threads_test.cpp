// A pass and its threads: one team, whatever stands around it, and what it does when something is
// wrong.
#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "imbrex/model/decoder.hpp"
#include "tests/model/tiny_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

/// Prompt and some single tokens, on a model whose matrices are cut into several items.
struct Passes : Wider {
  std::vector<float> logits(const Observer& observer = {}) const {
    Workspace workspace(decoder, 16);
    KvCache cache(config, 24);
    std::vector<float> all = numbers(decoder.last_logits(workspace, cache, prompt, observer));
    for (const token_t token : {3, 2, 1}) {
      const std::vector<float> more =
          numbers(decoder.last_logits(workspace, cache, Tokens{token}, observer));
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  Tokens prompt = random_tokens(20, 700, 1);
};

}  // namespace

TEST_CASE("threads of a pass: the same bits, watched or not") {
  const Passes passes;
  std::vector<float> one;
  for (const int threads : {1, 2, 3, 8, 64}) {
    CAPTURE(threads);
    const WithThreads set(threads);
    if (threads == 1) one = passes.logits();
    CHECK(different_bits(passes.logits(), one) == "");
    int steps = 0;
    CHECK(different_bits(passes.logits([&](const Step&) { ++steps; }), one) == "");
    CHECK(steps > 100);
  }
}

TEST_CASE("threads of a pass: an observer's exception comes through, and the next pass is right") {
  const Passes passes;
  const std::vector<float> right = passes.logits();
  for (const int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    const WithThreads set(threads);
    Workspace workspace(passes.decoder, 16);
    KvCache cache(passes.config, 24);
    const auto stop = [](const Step& step) {
      if (step.path() == "blk.1.ffn_gate") throw std::runtime_error("enough");
    };
    CHECK_THROWS_WITH_AS(passes.decoder.last_logits(workspace, cache, passes.prompt, stop),
                         "enough", std::runtime_error);
    CHECK_THROWS_AS(passes.decoder.last_logits(workspace, cache, Tokens{700}), TokenError);
    CHECK_THROWS_AS(passes.decoder.last_logits(workspace, cache, random_tokens(25, 700, 2)),
                    CapacityError);
    CHECK(cache.length() == 0);
    const std::vector<float> logits =
        numbers(passes.decoder.last_logits(workspace, cache, passes.prompt));
    CHECK(different_bits(logits, {right.begin(), right.begin() + 700}) == "");
    CHECK(different_bits(passes.logits(), right) == "");
  }
}

// They are read at the first product: within the team's region the program would end.
TEST_CASE("threads of a pass: what the environment says wrongly is an error") {
  const Passes passes;
  const WithThreads set(2);
  const int isa = isa_detail::chosen_isa.load(), arithmetic = arithmetic_detail::chosen.load();
  for (const char* name : {"IMBREX_ISA", "IMBREX_ARITHMETIC"}) {
    CAPTURE(std::string(name));
    const char* value = std::getenv(name);
    const std::string before = value != nullptr ? value : "";
    setenv(name, "nonsense", 1);
    isa_detail::chosen_isa.store(-1);
    arithmetic_detail::chosen.store(-1);
    Workspace workspace(passes.decoder, 16);
    KvCache cache(passes.config, 24);
    CHECK_THROWS_AS(passes.decoder.last_logits(workspace, cache, passes.prompt), ConfigError);
    CHECK(cache.length() == 0);
    value != nullptr ? setenv(name, before.c_str(), 1) : unsetenv(name);
  }
  isa_detail::chosen_isa.store(isa);
  arithmetic_detail::chosen.store(arithmetic);
}

#if IMBREX_HAS_OPENMP

TEST_CASE(
    "threads of a pass: inside the caller's parallel region there is one, and the same bits") {
  const Passes passes;
  const std::vector<float> right = passes.logits();
  const WithThreads set(4);
  std::vector<float> logits[3];
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 3; ++i) logits[i] = passes.logits();
  for (const std::vector<float>& each : logits) CHECK(different_bits(each, right) == "");
}

// An observer runs outside of any region of ours: threads of its own are not refused to it.
TEST_CASE("threads of a pass: an observer may use OpenMP itself") {
  const Passes passes;
  const WithThreads set(2);
  int fewest = 9, inside = 0;
  const auto look = [&](const Step&) {
    inside += omp_in_parallel();
    int team = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp single
      team = omp_get_num_threads();
    }
    fewest = team < fewest ? team : fewest;
  };
  omp_set_dynamic(0);
  passes.logits(look);
  CHECK(inside == 0);
  CHECK(fewest == 3);
}

#endif
