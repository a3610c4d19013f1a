// Threads, through OpenMP where the program is compiled with it; one thread otherwise.
//
// Work is cut by its own shape, never by the number of threads: `parallel_for` runs items whose
// results do not depend on who runs them, so results are the same bits for any number of threads.
//
// A loop by itself opens a parallel region of OpenMP's. That is quick while every thread has a core
// to itself; where it has not, each end of a region can cost a time slice of the scheduler, as
// OpenMP's threads look on for milliseconds before they sleep, or where they sleep at once, tens of
// microseconds. Work of many loops opens one region for all of them: `with_team`.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>

#include "imbrex/base/cpu_quota.hpp"
#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/team.hpp"

#if IMBREX_HAS_OPENMP
#include <omp.h>
#include <pthread.h>
#endif

namespace imbrex::inline IMBREX_ABI {

namespace threads_detail {
inline std::atomic<int> chosen_threads{0};  // 0: the default
inline std::atomic<int> quota_limit{0};     // 0: not read yet

/// The team that this thread leads and may post loops to; null in a loop's body.
inline constinit thread_local Team* current_team = nullptr;

/// Whether this thread is one that forked, in the child, and OpenMP's others are in the parent.
inline constinit thread_local bool alone_since_fork = false;
}  // namespace threads_detail

/// More threads than any machine has cores: a request for more is a mistake, and OpenMP, which
/// cannot fail, would end the program where the system refuses to start them.
inline constexpr int most_threads = 1024;

/// Sets how many threads the library uses from now on; 0 leaves it to `default_threads`. OpenMP's
/// own settings are not touched. Throws ConfigError outside 0 to most_threads.
inline void set_threads(int threads) {
  if (threads < 0 || threads > most_threads) {
    raise(ConfigError("threads", std::to_string(threads), "0 to " + std::to_string(most_threads)));
  }
  threads_detail::chosen_threads.store(threads, std::memory_order_relaxed);
}

#if IMBREX_HAS_OPENMP
namespace threads_detail {

/// The quota that limits the default, read once; most_threads where there is none, or the user has
/// said how many threads there should be.
inline int quota_threads() {
  int quota = quota_limit.load(std::memory_order_relaxed);
  if (quota == 0) {
    const index_t found = std::getenv("OMP_NUM_THREADS") == nullptr ? cpu_quota() : 0;
    quota = static_cast<int>(found > 0 ? lesser(found, most_threads) : most_threads);
    quota_limit.store(quota, std::memory_order_relaxed);
  }
  return quota;
}

/// Before the first team. A forked process has the one thread that forked. clang's OpenMP then
/// starts anew; g++'s does not know of it, and in its next region that thread would wait for others
/// for ever. It has to work alone; threads that the child makes find new ones.
inline void prepare_for_forks() {
#if !defined(__clang__)
  static const int registered = pthread_atfork(nullptr, nullptr, [] { alone_since_fork = true; });
  static_cast<void>(registered);
#endif
}

}  // namespace threads_detail
#endif

/// How many threads the library uses where set_threads was not called: as many as OpenMP would
/// (OMP_NUM_THREADS, omp_set_num_threads; else one for each processor that this process may run
/// on). Where OpenMP takes all processors because nobody told it otherwise, no more than the
/// process's control groups give it time for (`cpu_quota`); omp_set_num_threads with that number
/// cannot be told from nobody's word. 1 without OpenMP.
inline int default_threads() {
#if IMBREX_HAS_OPENMP
  const int all = static_cast<int>(lesser(omp_get_max_threads(), most_threads));
  const int quota = threads_detail::quota_threads();
  return quota < all && all == omp_get_num_procs() ? quota : all;
#else
  return 1;
#endif
}

/// How many threads a parallel loop started here would use: 1 without OpenMP, inside a parallel
/// region of the caller, whose threads are busy already, and with g++'s OpenMP in a child process
/// on the thread that forked, where the parent had used the library's threads.
inline int threads() {
#if IMBREX_HAS_OPENMP
  if (threads_detail::current_team != nullptr) return threads_detail::current_team->size();
  if (omp_in_parallel() || threads_detail::alone_since_fork) return 1;
  const int chosen = threads_detail::chosen_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : default_threads();
#else
  return 1;
#endif
}

namespace threads_detail {

template <class Body>
void run_items(const void* body, index_t first, index_t last) {
  for (index_t i = first; i < last; ++i) (*static_cast<const Body*>(body))(i);
}

#if IMBREX_HAS_OPENMP
/// Whether the threads of a team would have a core each: else they must not spin.
inline bool have_cores(int team) { return team <= omp_get_num_procs(); }

/// Leads `team` while f runs.
template <class F>
void lead(Team& team, F& f) {
  current_team = &team;
  f();
  current_team = nullptr;
  team.dismiss();
}
#endif

}  // namespace threads_detail

/// Runs f() on the calling thread, with a team of threads at hand that stays the same for all its
/// parallel loops: they then cost about a microsecond each. Neither f nor the body of a loop
/// may throw: OpenMP ends the program where an exception would leave a parallel region, and what
/// the caller gave (a callback, say) should not find itself in one. Where `threads()` is 1 it just
/// runs f().
template <class F>
void with_team(F&& f) {
#if IMBREX_HAS_OPENMP
  // As many threads whatever the work is: between teams of different sizes OpenMP ends threads,
  // starts others, and allocates. And items are claimed, not dealt by `omp for`, at each of which
  // clang's OpenMP allocates.
  const int size = threads();
  if (size > 1 && threads_detail::current_team == nullptr) {
    threads_detail::prepare_for_forks();
    Team team(size, threads_detail::have_cores(size));
#pragma omp parallel num_threads(size)
    {
      const int thread = omp_get_thread_num();
      if (thread == 0) {
        threads_detail::lead(team, f);
      } else {
        team.follow(thread);
      }
    }
    return;
  }
#endif
  f();
}

/// Runs body(i) for every i in [0, items), each once, by any thread of the team, neighbours mostly
/// by one. `body` must not throw: what can go wrong is checked before the loop.
template <class Body>
void parallel_for(index_t items, const Body& body) {
#if IMBREX_HAS_OPENMP
  if (items > 1) {
    Team*& current = threads_detail::current_team;
    if (Team* const team = current; team != nullptr) {
      current = nullptr;
      team->run(items, &body, threads_detail::run_items<Body>);
      current = team;
      return;
    }
    if (threads() > 1) {
      with_team([&] { parallel_for(items, body); });
      return;
    }
  }
#endif
  for (index_t i = 0; i < items; ++i) body(i);
}

}  // namespace imbrex::inline IMBREX_ABI
