// RMSNorm and LayerNorm of one row (a token) and of 512 (a prompt): numbers a second, and bytes of
// x and y.
#include "bench/rowwise.hpp"
#include "imbrex/kernels/layer_norm.hpp"
#include "imbrex/kernels/reference/layer_norm.hpp"
#include "imbrex/kernels/reference/rms_norm.hpp"
#include "imbrex/kernels/rms_norm.hpp"

using namespace imbrex;
using kernels::ConstRows, kernels::Rows;

namespace {

constexpr float eps = 1e-5f;

/// Statistics are in double, so what is left are four roundings.
double allowed(double, double largest) { return 5 * tests::unit_roundoff * largest; }

void time_rms_norm(benchmark::State& state, bench::Size size) {
  const std::vector<float> weight = tests::uniform(size.cols, 2, 0.5f, 1.5f);
  bench::time_rows(
      state, size, 1, 2, [&](Rows y, ConstRows x) { kernels::rms_norm(y, x, weight.data(), eps); },
      [&](Rows y, ConstRows x) { kernels::reference::rms_norm(y, x, weight.data(), eps); },
      allowed);
}

void time_layer_norm(benchmark::State& state, bench::Size size) {
  const std::vector<float> weight = tests::uniform(size.cols, 2, 0.5f, 1.5f),
                           bias = tests::uniform(size.cols, 3);
  bench::time_rows(
      state, size, 1, 2,
      [&](Rows y, ConstRows x) { kernels::layer_norm(y, x, weight.data(), bias.data(), eps); },
      [&](Rows y, ConstRows x) {
        kernels::reference::layer_norm(y, x, weight.data(), bias.data(), eps);
      },
      allowed);
}

void add_all() {
  for (const index_t rows : {1, 512}) {
    for (const index_t cols : {576, 2048, 4096}) {
      const bench::Size size{rows, cols};
      bench::add("rms_norm" + size.name(),
                 [=](benchmark::State& state) { time_rms_norm(state, size); });
      bench::add("layer_norm" + size.name(),
                 [=](benchmark::State& state) { time_layer_norm(state, size); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
