// imbrex::openmp: threads.
#include <atomic>
#include <cstdio>

#include "imbrex/base.hpp"

#if !defined(_OPENMP)
#error "imbrex::openmp must turn OpenMP on"
#endif

int main() {
  imbrex::set_threads(2);
  std::atomic<int> seen[2] = {};
  imbrex::parallel_for(2, [&](imbrex::index_t i) { seen[i] = omp_get_thread_num() + 1; });
  std::printf("%d %d\n", seen[0].load(), seen[1].load());
  return seen[0] == 1 && seen[1] == 2 ? 0 : 1;
}
