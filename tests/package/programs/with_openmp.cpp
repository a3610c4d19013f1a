// imbrex::openmp: threads.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "imbrex/base.hpp"

#if !defined(_OPENMP)
#error "imbrex::openmp must turn OpenMP on"
#endif

// Two items that wait for each other end only if two threads are at them.
int main() {
  using Clock = std::chrono::steady_clock;
  imbrex::set_threads(2);
  const Clock::time_point give_up = Clock::now() + std::chrono::minutes(1);
  std::atomic<int> begun{0}, met{0};
  imbrex::parallel_for(2, [&](imbrex::index_t) {
    ++begun;
    while (begun < 2 && Clock::now() < give_up) std::this_thread::yield();
    met += begun == 2;
  });
  std::printf("%d of 2 items met the other\n", met.load());
  return met == 2 ? 0 : 1;
}
