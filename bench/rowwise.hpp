// Operations on rows of floats: operands, the check, and the time of one.
#pragma once

#include <cmath>

#include "bench/harness.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/tensor/buffer.hpp"

namespace bench {

/// Rows x columns, and how they are called: "/512x2048".
struct Size {
  index_t rows, cols;

  // Appended, not added: g++ 12 warns of a copy in "/" + a string that there is not.
  std::string name() const {
    return std::string("/").append(std::to_string(rows)).append("x").append(std::to_string(cols));
  }
};

/// Times compute(y, x) on uniform random numbers in [-most, most), which stay in cache where they
/// fit: so do a model's activations. plain(y, x) is the reference; allowed(want,
/// largest) is how far an element may be from the reference's, whose largest is given. `streams`
/// is how many arrays of that size the operation reads or writes.
template <class Compute, class Plain, class Allowed>
void time_rows(benchmark::State& state, Size size, float most, double streams,
               const Compute& compute, const Plain& plain, const Allowed& allowed) {
  const index_t numbers = size.rows * size.cols;
  std::vector<float> in = imbrex::tests::uniform(numbers, 1, -most, most);
  imbrex::Buffer<float> out(numbers), want(numbers);
  const imbrex::kernels::ConstRows x{in.data(), size.rows, size.cols, size.cols};
  const imbrex::kernels::Rows y{out.data(), size.rows, size.cols, size.cols};
  plain(imbrex::kernels::Rows{want.data(), size.rows, size.cols, size.cols}, x);
  compute(y, x);
  double largest = 0;
  for (index_t i = 0; i < numbers; ++i) {
    largest = (std::max)(largest, std::abs(double{want.data()[i]}));
  }
  if (!right(state, out.data(), want.data(), numbers,
             [&](index_t i) { return allowed(std::abs(double{want.data()[i]}), largest); })) {
    return;
  }
  for ([[maybe_unused]] auto _ : state) {
    compute(y, x);
    benchmark::ClobberMemory();
  }
  count(state, 0, streams * static_cast<double>(numbers) * sizeof(float));
  state.counters["numbers"] = benchmark::Counter(static_cast<double>(numbers),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace bench
