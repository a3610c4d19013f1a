// The machine's limits, with all its threads: what the other programs' rates are to be held
// against. Bytes that can be read from memory, FLOP of multiply-adds in registers for each
// instruction set, of the library's product of f32 matrices, products of bytes with VNNI, of pairs
// of bf16 with AVX512_BF16, and AMX's bf16 tiles. The fastest of several runs counts; `time` is
// that of all together and says nothing.
#include <atomic>

#include "bench/amx_peak.hpp"
#include "bench/harness.hpp"
#include "bench/pairs_peak.hpp"
#include "bench/vnni_peak.hpp"
#include "examples/machine_limits.hpp"

using namespace imbrex;

namespace {

/// Adds a limit: measure() gives a rate, shown as `counter`.
template <class Measure>
void add_limit(const std::string& name, const char* counter, const Measure& measure) {
  bench::add(name, [=](benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) state.counters[counter] = measure();
  })->Iterations(1);
}

/// Adds the limit of a unit that some machines have: run(rounds) says whether its sums are right.
void add_unit(const std::string& name, const char* counter, bool available, double round_work,
              bool (*run)(index_t rounds)) {
  bench::add(name, [=](benchmark::State& state) {
    if (!available) {
      for ([[maybe_unused]] auto _ : state) state.SetLabel("not on this machine");
      return;
    }
    constexpr index_t rounds = 100'000;
    const index_t team = threads();
    std::atomic<bool> right = true;
    for ([[maybe_unused]] auto _ : state) {
      const double seconds = examples::fastest(20, [&] {
        parallel_for(team, [&](index_t) {
          if (!run(rounds)) right = false;
        });
      });
      state.counters[counter] = round_work * static_cast<double>(rounds * team) / seconds;
    }
    if (!right) bench::fail(state, "the sums of products of ones are wrong");
  })->Iterations(1);
}

void add_all() {
  const Isa best = active_isa();
  add_limit("read_memory", "bytes/s", [] { return examples::measure_read_bandwidth(); });
  for (int i = 0; i < isa_count; ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!available(isa)) continue;
    add_limit(std::string("fma_f32/") + name(isa), "FLOP/s", [=] {
      use_isa(isa);
      const double flops = examples::measure_fma_peak();
      use_isa(best);
      return flops;
    });
  }
  add_limit("product_f32/512x512x512", "FLOP/s", [] { return examples::measure_matmul(); });
  add_unit("vnni_int8", "OP/s", bench::vnni::available(), bench::vnni::round_ops, bench::vnni::run);
  add_unit("bf16_pairs", "FLOP/s", bench::pairs::available(), bench::pairs::round_flops,
           bench::pairs::run);
  add_unit("amx_bf16", "FLOP/s", bench::amx::available(), bench::amx::round_flops, bench::amx::run);
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
