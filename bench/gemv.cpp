// The product of one row with a stored matrix [5632, 2048] (TinyLlama's gate), for each format and
// instruction set: bytes of weights a second, to be held against the bandwidth of the machine's
// memory. `cold`: another matrix each time, together more than the caches hold, as in a model's
// pass; `hot`: 256 rows of it, which stay in cache, so that what is left is the arithmetic. Then up
// to four rows at once, with the set in use.
//
//   bench_gemv --benchmark_filter=Q8_0/avx2
#include "imbrex/kernels/gemv.hpp"
#include "bench/stored.hpp"

using namespace imbrex;

namespace {

constexpr index_t outputs = 5632, inputs = 2048;

void time_gemv(benchmark::State& state, Dtype dtype, Isa isa, index_t rows, bool cold) {
  use_isa(isa);
  bench::time_product(
      state, rows,
      bench::Matrices(dtype, cold ? outputs : 256, inputs, cold ? bench::cold_bytes() : 1),
      [](kernels::Rows y, kernels::ConstRows x, const kernels::Matrix& w) {
        kernels::gemv(y, x, w, nullptr);
      });
}

void add_gemv(const std::string& title, Dtype dtype, Isa isa, index_t rows, bool cold) {
  bench::add(std::string(name(dtype)) + "/" + title,
             [=](benchmark::State& state) { time_gemv(state, dtype, isa, rows, cold); });
}

void add_all() {
  const Isa best = active_isa();
  for (int d = 0; d < dtype_count; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    for (int i = 0; i < isa_count; ++i) {
      const Isa isa = static_cast<Isa>(i);
      if (!available(isa)) continue;
      add_gemv(std::string(name(isa)) + "/cold", dtype, isa, 1, true);
      add_gemv(std::string(name(isa)) + "/hot", dtype, isa, 1, false);
    }
    for (const index_t rows : {2, 4}) {
      add_gemv("rows:" + std::to_string(rows) + "/cold", dtype, best, rows, true);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
