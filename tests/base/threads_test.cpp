#include "imbrex/base/threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

using namespace imbrex;

namespace {

/// Leaves the number of threads as it was.
struct KeepThreads {
  ~KeepThreads() { set_threads(0); }
};

}  // namespace

TEST_CASE("every item runs once, for any number of threads and of items") {
  const KeepThreads keep;
  for (int threads : {1, 2, 3, 8, 64}) {
    set_threads(threads);
    for (index_t items : {0, 1, 2, 3, 7, 100}) {
      std::vector<int> runs(static_cast<std::size_t>(items) + 1, 0);
      parallel_for(items, [&](index_t i) { ++runs[static_cast<std::size_t>(i)]; });
      for (index_t i = 0; i < items; ++i) CHECK(runs[static_cast<std::size_t>(i)] == 1);
      CHECK(runs.back() == 0);
    }
  }
}

TEST_CASE("results are the same bits for any number of threads") {
  const KeepThreads keep;
  const auto compute = [](int threads) {
    set_threads(threads);
    std::vector<float> sums(37);
    parallel_for(37, [&](index_t i) {
      float sum = 0;
      for (int k = 0; k < 1000; ++k) sum += std::sin(static_cast<float>(i * 1000 + k));
      sums[static_cast<std::size_t>(i)] = sum;
    });
    return sums;
  };
  const std::vector<float> one = compute(1);
  for (int threads : {2, 3, 8}) {
    const std::vector<float> many = compute(threads);
    CHECK(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("a number of threads below zero is an error and changes nothing") {
  const KeepThreads keep;
  set_threads(2);
  CHECK_THROWS_AS(set_threads(-1), const ConfigError&);
  CHECK_THROWS_AS(set_threads(most_threads + 1), const ConfigError&);
  CHECK(threads() == (IMBREX_HAS_OPENMP ? 2 : 1));
}

#if IMBREX_HAS_OPENMP

TEST_CASE("as many threads run as were asked for") {
  const KeepThreads keep;
  omp_set_dynamic(0);
  for (int wanted : {2, 3}) {
    set_threads(wanted);
    std::atomic<int> largest{0};
    parallel_for(wanted, [&](index_t) { largest = omp_get_num_threads(); });
    CHECK(largest == wanted);
  }
}

TEST_CASE("inside the caller's own threads a loop stays on one, and gives the same") {
  const KeepThreads keep;
  set_threads(4);
  int sums[2] = {0, 0}, counts[2] = {0, 0};
#pragma omp parallel for num_threads(2)
  for (int outer = 0; outer < 2; ++outer) {
    counts[outer] = threads();
    parallel_for(100,
                 [&](index_t i) { sums[outer] += static_cast<int>(i); });  // no race: one thread
  }
  for (int outer : {0, 1}) {
    CHECK(counts[outer] == 1);
    CHECK(sums[outer] == 4950);
  }
}

TEST_CASE("OpenMP's own setting is the default, and is left alone") {
  const KeepThreads keep;
  const int before = omp_get_max_threads();
  set_threads(0);
  CHECK(threads() == before);
  set_threads(before + 3);
  CHECK(threads() == before + 3);
  CHECK(omp_get_max_threads() == before);
}

#else

TEST_CASE("without OpenMP there is one thread") {
  const KeepThreads keep;
  set_threads(8);
  CHECK(threads() == 1);
}

#endif
