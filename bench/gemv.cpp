// The product of one row with a stored matrix, for each format and instruction set: bytes of
// weights a second, to be held against the bandwidth of the machine's memory (or of its caches,
// where the matrix fits). The answer is checked before its time counts.
//
//   bench_gemv --benchmark_filter=Q8_0/avx2
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/kernels/gemv.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/kernels/reference/matmul.hpp"

using namespace imbrex;

namespace {

constexpr index_t columns = 4096;

/// A matrix of one random row, over and over: normal numbers encoded, or for formats without an
/// encoder random bytes, bit 6 of each clear so that a half is finite wherever it lies.
struct Stored {
  std::vector<std::byte> bytes;
  kernels::Matrix matrix;

  Stored(Dtype dtype, index_t rows) {
    const std::size_t row = static_cast<std::size_t>(row_bytes(dtype, columns));
    bytes.resize(row * static_cast<std::size_t>(rows));
    Random random(1);
    if (dtype <= Dtype::q4_1 || dtype == Dtype::q8_0) {
      std::vector<float> numbers(columns);
      for (float& v : numbers) v = random.normal();
      kernels::encode(dtype, numbers.data(), columns, bytes.data());
    } else {
      for (std::size_t i = 0; i < row; ++i) bytes[i] = static_cast<std::byte>(random() & 0xBFu);
    }
    for (index_t i = 1; i < rows; ++i) {
      std::memcpy(bytes.data() + row * static_cast<std::size_t>(i), bytes.data(), row);
    }
    matrix = {bytes.data(), dtype, rows, columns, static_cast<index_t>(row)};
  }
};

/// Whether all of y is the product of x and the (one) row of w, within the bound of `matmul`.
bool right(const std::vector<float>& y, const std::vector<float>& x, const kernels::Matrix& w) {
  std::vector<float> row(columns);
  kernels::decode(w.dtype, w.data, columns, row.data());
  double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    sum += double{row[i]} * double{x[i]};
    magnitude += std::abs(double{row[i]} * double{x[i]});
  }
  const double allowed = (static_cast<double>(columns) / 8 + 260) * 0x1p-24 * magnitude;
  for (const float v : y) {
    if (!(std::abs(double{v} - sum) <= allowed)) return false;
  }
  return true;
}

void run(benchmark::State& state, Dtype dtype, Isa isa, index_t rows) {
  use_isa(isa);
  const Stored w(dtype, rows);
  Random random(2);
  std::vector<float> x(columns), y(static_cast<std::size_t>(rows));
  for (float& v : x) v = random.normal();
  const auto product = [&] {
    kernels::gemv({y.data(), 1, rows, rows}, {x.data(), 1, columns, columns}, w.matrix, nullptr);
  };
  product();
  if (!right(y, x, w.matrix)) return state.SkipWithError("the product is wrong");
  for ([[maybe_unused]] auto _ : state) {
    product();
    benchmark::DoNotOptimize(y.data());
  }
  const double weights = static_cast<double>(rows * columns);
  state.SetBytesProcessed(state.iterations() * static_cast<index_t>(w.bytes.size()));
  state.counters["flop/s"] =
      benchmark::Counter(2 * weights, benchmark::Counter::kIsIterationInvariantRate);
}

void add_all() {
  for (int d = 0; d < dtype_count; ++d) {
    for (int i = 0; i < isa_count; ++i) {
      const Dtype dtype = static_cast<Dtype>(d);
      const Isa isa = static_cast<Isa>(i);
      if (!available(isa)) continue;
      for (const index_t rows : {256, 16384}) {  // 1 M weights, and 67 M
        const std::string title =
            std::string(name(dtype)) + "/" + name(isa) + "/" + std::to_string(rows);
        benchmark::RegisterBenchmark(title.c_str(), run, dtype, isa, rows)->UseRealTime();
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
