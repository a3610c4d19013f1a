// What every benchmark program does alike: its main, its counters, and what happens to an answer
// that is wrong.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/isa.hpp"
#include "imbrex/base/threads.hpp"
#include "tests/support/compare.hpp"

namespace bench {

using imbrex::index_t;

/// Whether an answer was wrong: the program then exits with 1.
inline bool failed = false;

/// Ends a benchmark without a time; the program goes on with the others.
inline void fail(benchmark::State& state, const std::string& why) {
  failed = true;
  state.SkipWithError(why.c_str());
}

/// Whether |got[i] - want[i]| <= allowed(i) for all n elements; otherwise the benchmark has failed
/// and must return.
template <class Allowed>
bool right(benchmark::State& state, const float* got, const float* want, index_t n,
           Allowed allowed) {
  const std::string problem = imbrex::tests::worst_difference(got, want, n, allowed);
  if (!problem.empty()) fail(state, problem);
  return problem.empty();
}

/// The work of an iteration, shown as a rate: floating-point operations, and bytes that must come
/// from outside the registers. What is 0 is not shown.
inline void count(benchmark::State& state, double flops, double bytes) {
  constexpr auto rate = benchmark::Counter::kIsIterationInvariantRate;
  if (flops > 0) state.counters["FLOP"] = benchmark::Counter(flops, rate);
  if (bytes > 0) state.counters["bytes"] = benchmark::Counter(bytes, rate);
}

/// Adds a benchmark: run(state). Threads work, so time is that of the clock on the wall.
template <class Run>
benchmark::internal::Benchmark* add(const std::string& name, Run run) {
  return benchmark::RegisterBenchmark(name.c_str(), std::move(run))
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

/// Bytes that weights are spread over where a model would read them from memory: twice the largest
/// cache, so that going round them finds little of the last round; --cold=MiB says otherwise.
inline index_t& cold_bytes() {
  static index_t bytes = [] {
    index_t largest = 0;
    for (const auto& cache : benchmark::CPUInfo::Get().caches) {
      largest = imbrex::greater(largest, index_t{cache.size});
    }
    const index_t mib = index_t{1} << 20;
    return largest == 0 ? 128 * mib : imbrex::lesser(2 * largest, 1024 * mib);
  }();
  return bytes;
}

/// Takes this program's own option out of the words of the command line. The number is what atoi
/// makes of it: 0, one copy of everything, where it is none.
inline bool take_own(const char* word) {
  constexpr std::string_view option = "--cold=";
  if (!std::string_view(word).starts_with(option)) return false;
  cold_bytes() = index_t{std::atoi(word + option.size())} << 20;
  return true;
}

/// The main of a program. Exits with 1 where an answer was wrong, nothing was to be run, or
/// something was thrown.
inline int run(int argc, char** argv, void (*add_all)()) {
  char tabular[] = "--benchmark_counters_tabular=true";
  std::vector<char*> words(argv, argv + argc);
  words.insert(words.begin() + 1, tabular);
  words.erase(std::remove_if(words.begin() + 1, words.end(), take_own), words.end());
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  benchmark::Initialize(&count, words.data());
  if (benchmark::ReportUnrecognizedArguments(count, words.data())) return 1;
  try {
    benchmark::AddCustomContext("imbrex", std::string(name(imbrex::active_isa())) + ", " +
                                              std::to_string(imbrex::threads()) + " threads");
    benchmark::AddCustomContext("cold weights", std::to_string(cold_bytes() >> 20) + " MiB");
    add_all();
    const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
    return failed || ran == 0 ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace bench
