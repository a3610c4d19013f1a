// Threads, through OpenMP where the program is compiled with it; one thread otherwise.
//
// Work is cut by its own shape, never by the number of threads: `parallel_for` runs items whose
// results do not depend on who runs them, so results are the same bits for any number of threads.
#pragma once

#include <atomic>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"

#if IMBREX_HAS_OPENMP
#include <omp.h>
#endif

namespace imbrex::inline IMBREX_ABI {

namespace threads_detail {
inline std::atomic<int> chosen_threads{0};  // 0: as OpenMP has it
}  // namespace threads_detail

/// More threads than any machine has cores: a request for more is a mistake, and OpenMP, which
/// cannot fail, would end the program where the system refuses to start them.
inline constexpr int most_threads = 1024;

/// Sets how many threads the library uses from now on; 0 leaves it to OpenMP (OMP_NUM_THREADS).
/// OpenMP's own settings are not touched. Throws ConfigError outside 0 to most_threads.
inline void set_threads(int threads) {
  if (threads < 0 || threads > most_threads) {
    raise(ConfigError("threads", std::to_string(threads), "0 to " + std::to_string(most_threads)));
  }
  threads_detail::chosen_threads.store(threads, std::memory_order_relaxed);
}

/// How many threads a parallel loop started here would use: 1 without OpenMP, and inside a
/// parallel region of the caller, whose threads are busy already.
inline int threads() {
#if IMBREX_HAS_OPENMP
  if (omp_in_parallel()) return 1;
  const int chosen = threads_detail::chosen_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : static_cast<int>(lesser(omp_get_max_threads(), most_threads));
#else
  return 1;
#endif
}

/// Runs body(i) for every i in [0, items). Items are dealt in contiguous runs. `body` must not
/// throw: what can go wrong is checked before the loop.
template <class Body>
void parallel_for(index_t items, const Body& body) {
#if IMBREX_HAS_OPENMP
  // The team has the same size whatever the number of items: between teams of different sizes
  // OpenMP ends threads, starts others, and allocates for each team. And items are dealt by hand
  // because clang's OpenMP allocates at each `omp for`.
  const int team = items > 1 ? threads() : 1;
  if (team > 1) {
#pragma omp parallel num_threads(team)
    {
      const index_t count = omp_get_num_threads(), me = omp_get_thread_num();
      const index_t share = items / count, larger = items % count;  // so many have one item more
      const index_t first = me * share + lesser(me, larger);
      const index_t last = first + share + (me < larger ? 1 : 0);
      for (index_t i = first; i < last; ++i) body(i);
    }
    return;
  }
#endif
  for (index_t i = 0; i < items; ++i) body(i);
}

}  // namespace imbrex::inline IMBREX_ABI
