// Softmax of rows: of scores, and of the logits of a vocabulary of 49152 (SmolLM2) and of 128256
// (Llama 3).
#include "imbrex/kernels/reference/softmax.hpp"
#include "bench/rowwise.hpp"
#include "imbrex/kernels/softmax.hpp"

using namespace imbrex;
using kernels::ConstRows, kernels::Rows;

namespace {

void time_softmax(benchmark::State& state, bench::Size size) {
  // Of the result: an exponential (2 u), x - m (40 u for numbers up to 20), sum and quotient.
  const auto allowed = [](double want, double) { return 46 * tests::unit_roundoff * want; };
  bench::time_rows(
      state, size, 10, 2, [](Rows y, ConstRows x) { kernels::softmax(y, x); },
      [](Rows y, ConstRows x) { kernels::reference::softmax(y, x); }, allowed);
}

void add_all() {
  for (const bench::Size size : {bench::Size{1, 512}, bench::Size{512, 512}, bench::Size{1, 49152},
                                 bench::Size{8, 49152}, bench::Size{1, 128256}}) {
    bench::add("softmax" + size.name(),
               [=](benchmark::State& state) { time_softmax(state, size); });
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
