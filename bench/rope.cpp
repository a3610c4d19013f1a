// RoPE in place, of a token and of a prompt's 512, with the pairs of both layouts. Sines and
// cosines, in double, are shared by the heads of a row: more heads make the number of one cheaper.
#include <cmath>

#include "bench/harness.hpp"
#include "imbrex/kernels/reference/rope.hpp"
#include "imbrex/kernels/rope.hpp"

using namespace imbrex;

namespace {

void time_rope(benchmark::State& state, index_t rows, index_t heads, index_t width,
               RopePairs pairs) {
  std::vector<float> frequencies;
  for (index_t i = 0; i < width / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(width);
    frequencies.push_back(static_cast<float>(std::pow(10000.0, exponent)));
  }
  std::vector<index_t> positions;
  for (index_t t = 0; t < rows; ++t) positions.push_back(1000 + t);
  std::vector<float> x = tests::uniform(rows * heads * width, 1), want = x;
  const auto as_heads = [&](std::vector<float>& numbers) {
    return kernels::Heads{numbers.data(), rows, heads, width, heads * width, width};
  };
  kernels::rope(as_heads(x), positions.data(), frequencies.data(), width, pairs);
  kernels::reference::rope(as_heads(want), positions.data(), frequencies.data(), width, pairs);
  // a cos - b sin, |a|, |b| <= 1: cosine and product rounded, and the sum; the reference once.
  const auto allowed = [](index_t) { return 8 * tests::unit_roundoff; };
  const index_t count = static_cast<index_t>(x.size());
  if (!bench::right(state, x.data(), want.data(), count, allowed)) return;
  for ([[maybe_unused]] auto _ : state) {
    kernels::rope(as_heads(x), positions.data(), frequencies.data(), width, pairs);
    benchmark::ClobberMemory();
  }
  const double numbers = static_cast<double>(count);
  bench::count(state, 0, 2 * numbers * sizeof(float));
  state.counters["numbers"] =
      benchmark::Counter(numbers, benchmark::Counter::kIsIterationInvariantRate);
}

void add_all() {
  struct Layout {
    const char* name;
    RopePairs pairs;
  };
  struct Model {
    const char* name;
    index_t heads, width;
  };
  for (const Layout layout :
       {Layout{"interleaved", RopePairs::interleaved}, Layout{"half", RopePairs::half}}) {
    for (const Model model :
         {Model{"9x64", 9, 64}, Model{"32x64", 32, 64}, Model{"32x128", 32, 128}}) {
      for (const index_t rows : {1, 512}) {
        bench::add(std::string(layout.name) + "/" + model.name + "/rows:" + std::to_string(rows),
                   [=](benchmark::State& state) {
                     time_rope(state, rows, model.heads, model.width, layout.pairs);
                   });
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
