// What a loop costs that has nothing to do: an item for each thread, alone and in a team's region;
// and of a loop that has: how much sooner two threads are done. Rows "beside" share the machine
// with one process that never sleeps.
#include <csignal>
#include <cstdint>

#include <sys/wait.h>
#include <unistd.h>

#include "bench/harness.hpp"
#include "imbrex/base/threads.hpp"

using namespace imbrex;

namespace {

constexpr int loops = 256;  // of a region: some forward pass

/// A process that takes a core, as long as it lives.
class Neighbour {
 public:
  explicit Neighbour(bool wanted) : process_(wanted ? fork() : 0) {
    if (!wanted || process_ != 0) return;
    for (std::uint32_t i = 0;; ++i) benchmark::DoNotOptimize(i);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_;
};

/// Some nanoseconds of arithmetic that no compiler takes away.
std::uint64_t work(index_t steps) {
  std::uint64_t x = 1;
  for (index_t i = 0; i < steps; ++i) benchmark::DoNotOptimize(x = x * 6364136223846793005u + 1);
  return x;
}

struct Case {
  bool team, beside;
  index_t steps;  ///< of work in each of 16 items; 0: an empty item for each thread
};

void time_loop(benchmark::State& state, Case c) {
  const Neighbour neighbour(c.beside);
  const index_t items = c.steps == 0 ? threads() : 16;
  std::vector<index_t> done(static_cast<std::size_t>(items) * 8);  // a cache line each
  const auto loop = [&] {
    parallel_for(items, [&](index_t i) {
      benchmark::DoNotOptimize(work(c.steps));
      ++done[static_cast<std::size_t>(i * 8)];
    });
  };
  index_t rounds = 0;
  for ([[maybe_unused]] auto _ : state) {
    if (c.team) {
      with_team([&] {
        for (int i = 0; i < loops; ++i) loop();
      });
    } else {
      for (int i = 0; i < loops; ++i) loop();
    }
    rounds += loops;
  }
  for (index_t i = 0; i < items; ++i) {
    if (done[static_cast<std::size_t>(i * 8)] != rounds) bench::fail(state, "an item was left out");
  }
  state.counters["loops"] = benchmark::Counter(
      loops, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void add_all() {
  for (const bool beside : {false, true}) {
    for (const bool team : {false, true}) {
      for (const index_t steps : {0, 2000}) {
        const std::string name = std::string(team ? "team" : "region a loop") +
                                 (steps == 0 ? "/empty" : "/16 items") + (beside ? "/beside" : "");
        bench::add(name, [=](benchmark::State& state) { time_loop(state, {team, beside, steps}); });
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
