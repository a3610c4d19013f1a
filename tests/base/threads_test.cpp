#include "imbrex/base/threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

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

TEST_CASE("in a team every item of every loop runs once, for any number of threads and of items") {
  const KeepThreads keep;
  for (int threads : {1, 2, 3, 8, 64}) {
    CAPTURE(threads);
    set_threads(threads);
    std::vector<int> runs(101, 0);
    with_team([&] {
      for (index_t items : {0, 1, 2, 3, 7, 100}) {
        parallel_for(items, [&](index_t i) { ++runs[static_cast<std::size_t>(i)]; });
      }
    });
    for (std::size_t i = 0; i < runs.size(); ++i) {
      CHECK(runs[i] == (i < 100) + (i < 7) + (i < 3) + (i < 2) + (i < 1));
    }
  }
}

TEST_CASE("a team is one, however deep, and of the number of threads that was set") {
  const KeepThreads keep;
  set_threads(3);
  const int all = threads();
  int inside = 0, deeper = 0;
  std::atomic<int> in_loop{0}, sum{0};
  with_team([&] {
    inside = threads();
    with_team([&] {
      deeper = threads();
      parallel_for(10, [&](index_t i) {
        in_loop += threads();
        with_team(
            [&] { parallel_for(4, [&](index_t j) { sum += static_cast<int>(10 * i + j); }); });
      });
    });
  });
  CHECK(inside == all);
  CHECK(deeper == all);
  CHECK(in_loop == 10);  // 1 in each item
  CHECK(sum == 4 * 450 + 10 * 6);
  CHECK(threads() == all);
}

TEST_CASE("threads of the program's own have a team each") {
  const KeepThreads keep;
  set_threads(3);
  std::vector<std::int64_t> sums(4, 0);
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    callers.emplace_back([&sums, c] {
      for (int pass = 0; pass < 20; ++pass) {
        with_team([&] {
          for (index_t items = 0; items < 40; ++items) {
            std::atomic<std::int64_t> sum{0};
            parallel_for(items, [&](index_t i) { sum += i; });
            sums[c] += sum;
          }
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) CHECK(sum == 20 * 9880);  // C(40, 3)
}

TEST_CASE("results are the same bits for any number of threads") {
  const KeepThreads keep;
  const auto compute = [](int threads) {
    set_threads(threads);
    std::vector<float> sums(74);
    const auto add = [&sums](index_t i) {
      float sum = 0;
      for (int k = 0; k < 1000; ++k) sum += std::sin(static_cast<float>(i * 1000 + k));
      sums[static_cast<std::size_t>(i)] = sum;
    };
    parallel_for(37, add);
    with_team([&] { parallel_for(37, [&](index_t i) { add(37 + i); }); });
    return sums;
  };
  const std::vector<float> one = compute(1);
  for (int threads : {2, 3, 8, 64}) {
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

// clang's sanitizer of threads ends a child that starts some.
#if !defined(__has_feature)
#define IMBREX_TEST_FORKS 1
#elif !__has_feature(thread_sanitizer)
#define IMBREX_TEST_FORKS 1
#endif

#if IMBREX_TEST_FORKS

namespace {

/// Whether loops of a team of three come to the right sum.
bool adds_up() {
  std::atomic<index_t> sum{0};
  with_team([&] {
    for (int loop = 0; loop < 20; ++loop) parallel_for(50, [&](index_t i) { sum += i; });
  });
  return sum == 20 * 1225;
}

}  // namespace

// A child has but the thread that forked, and OpenMP thinks that its others are there, too.
TEST_CASE("a child process does not wait for threads that its parent has") {
  if (std::getenv("IMBREX_TEST_EMULATED") != nullptr) {
    MESSAGE("skipped: a child of a process with threads can start none in qemu's user mode");
    return;
  }
  const KeepThreads keep;
  set_threads(3);
  REQUIRE(adds_up());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that waits
    bool right = adds_up();
    std::thread([&] { right = adds_up() && right; }).join();
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(threads() == (IMBREX_HAS_OPENMP ? 3 : 1));
  CHECK(adds_up());
}

#endif

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
    with_team([&] {
      parallel_for(100,
                   [&](index_t i) { sums[outer] += static_cast<int>(i); });  // no race: one thread
    });
  }
  for (int outer : {0, 1}) {
    CHECK(counts[outer] == 1);
    CHECK(sums[outer] == 4950);
  }
}

TEST_CASE("OpenMP's own setting is the default, and is left alone") {
  const KeepThreads keep;
  const int before = omp_get_max_threads(), wanted = omp_get_num_procs() + 3;
  omp_set_num_threads(wanted);
  set_threads(0);
  CHECK(threads() == wanted);
  CHECK(default_threads() == wanted);
  set_threads(before + 1);
  CHECK(threads() == before + 1);
  CHECK(default_threads() == wanted);
  CHECK(omp_get_max_threads() == wanted);
  omp_set_num_threads(before);
}

TEST_CASE("the default is not more than the processors' time that there is") {
  const index_t quota = cpu_quota();
  CHECK(default_threads() >= 1);
  CHECK(default_threads() <= omp_get_max_threads());
  const bool all = omp_get_max_threads() == omp_get_num_procs();
  if (all && quota > 0 && std::getenv("OMP_NUM_THREADS") == nullptr) {
    CHECK(default_threads() <= quota);
  } else {
    CHECK(default_threads() == omp_get_max_threads());
  }
}

// Quotas of 1, of more processors than there are, and none, as if the system had said so.
TEST_CASE("a quota limits the default where OpenMP takes all processors, and nothing else") {
  struct Keep {
    int quota = threads_detail::quota_threads(), threads = omp_get_max_threads();
    ~Keep() {
      threads_detail::quota_limit.store(quota);
      omp_set_num_threads(threads);
    }
  } keep;
  const int all = omp_get_num_procs();
  const auto with_quota = [](int quota) {
    threads_detail::quota_limit.store(quota);
    return default_threads();
  };
  omp_set_num_threads(all);
  CHECK(with_quota(1) == 1);
  CHECK(with_quota(all + 1) == all);
  CHECK(with_quota(most_threads) == all);
  omp_set_num_threads(all + 2);  // asked for: nobody's default
  CHECK(with_quota(1) == all + 2);
}

#else

TEST_CASE("without OpenMP there is one thread") {
  const KeepThreads keep;
  set_threads(8);
  CHECK(threads() == 1);
  CHECK(default_threads() == 1);
}

#endif
