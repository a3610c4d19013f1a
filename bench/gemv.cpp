// The product of one row with a stored matrix [5632, 2048] (TinyLlama's gate), for each format,
// instruction set and arithmetic: bytes of weights a second, to be held against the bandwidth of
// the machine's memory. `cold`: another matrix each time, together more than the caches hold, as in
// a model's pass; `hot`: 256 rows of it, which stay in cache, so that what is left is the
// arithmetic. Then up to sixteen rows at once, with the set in use.
//
//   bench_gemv --benchmark_filter=Q8_0/int8/avx2
#include "imbrex/kernels/gemv.hpp"
#include "bench/stored.hpp"

using namespace imbrex;

namespace {

constexpr index_t outputs = 5632, inputs = 2048;

void time_gemv(benchmark::State& state, Dtype dtype, Isa isa, Arithmetic arithmetic, index_t rows,
               bool cold) {
  use_isa(isa);
  use_arithmetic(arithmetic);
  bench::time_product(
      state, rows,
      bench::Matrices(dtype, cold ? outputs : 256, inputs, cold ? bench::cold_bytes() : 1),
      [](kernels::Rows y, kernels::ConstRows x, const kernels::Matrix& w) {
        kernels::gemv(y, x, w, nullptr);
      });
}

void add_gemv(const std::string& title, Dtype dtype, Isa isa, Arithmetic arithmetic, index_t rows,
              bool cold) {
  bench::add(
      std::string(name(dtype)) + "/" + name(arithmetic) + "/" + title,
      [=](benchmark::State& state) { time_gemv(state, dtype, isa, arithmetic, rows, cold); });
}

void add_all() {
  const Isa best = active_isa();
  for (int d = 0; d < dtype_count; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::int8}) {
      if (arithmetic == Arithmetic::int8 && traits(dtype).block == 1) continue;  // f32 always
      for (int i = 0; i < isa_count; ++i) {
        const Isa isa = static_cast<Isa>(i);
        if (!available(isa)) continue;
        add_gemv(std::string(name(isa)) + "/cold", dtype, isa, arithmetic, 1, true);
        add_gemv(std::string(name(isa)) + "/hot", dtype, isa, arithmetic, 1, false);
      }
      for (const index_t rows : {2, 4, 8, 16}) {
        add_gemv("rows:" + std::to_string(rows) + "/cold", dtype, best, arithmetic, rows, true);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
