// The elementwise operations between the products, on a token's row and on a prompt's 512: the
// non-linear functions, alone and as gates, and sums, scales and caps.
#include "bench/rowwise.hpp"
#include "imbrex/kernels/activation.hpp"
#include "imbrex/kernels/add.hpp"
#include "imbrex/kernels/reference/activation.hpp"
#include "imbrex/kernels/reference/add.hpp"
#include "imbrex/kernels/reference/scale.hpp"
#include "imbrex/kernels/reference/soft_cap.hpp"
#include "imbrex/kernels/scale.hpp"
#include "imbrex/kernels/soft_cap.hpp"

using namespace imbrex;
using kernels::ConstRows, kernels::Rows;

namespace {

constexpr double u = tests::unit_roundoff;

/// An exponential (2 u) of an argument known to 18 u, for |x| <= 9, where results are below 9; a
/// gate multiplies it by at most 1 and rounds once more.
double function_error(double, double) { return 9 * 31 * u; }

/// Adds a benchmark of one operation at each size; `most` bounds its numbers.
template <class Compute, class Plain, class Allowed>
void add_operation(const std::string& name, float most, double streams, const Compute& compute,
                   const Plain& plain, const Allowed& allowed) {
  for (const bench::Size size : {bench::Size{1, 1536}, bench::Size{1, 5632}, bench::Size{512, 1536},
                                 bench::Size{512, 5632}}) {
    bench::add(name + size.name(), [=](benchmark::State& state) {
      bench::time_rows(state, size, most, streams, compute, plain, allowed);
    });
  }
}

void add_functions() {
  constexpr std::pair<const char*, Activation> functions[] = {{"silu", Activation::silu},
                                                              {"gelu", Activation::gelu},
                                                              {"gelu_tanh", Activation::gelu_tanh},
                                                              {"relu", Activation::relu}};
  for (const auto& [name, f] : functions) {
    const Activation function = f;
    add_operation(
        name, 9, 2, [=](Rows y, ConstRows x) { kernels::activate(y, x, function); },
        [=](Rows y, ConstRows x) { kernels::reference::activate(y, x, function); }, function_error);
  }
}

/// The second operand of a gate and of a sum, in [-1, 1); as large as the largest of them.
ConstRows other(ConstRows x) {
  static const std::vector<float> numbers = tests::uniform(512 * 5632, 2);
  return {numbers.data(), x.rows, x.cols, x.cols};
}

void add_all() {
  add_functions();
  add_operation(
      "gate_silu", 9, 3,
      [](Rows y, ConstRows x) { kernels::gate(y, x, other(x), Activation::silu); },
      [](Rows y, ConstRows x) { kernels::reference::gate(y, x, other(x), Activation::silu); },
      function_error);
  const auto exact = [](double, double) { return 0.0; };
  add_operation(
      "add", 1, 3, [](Rows y, ConstRows x) { kernels::add(y, x, other(x)); },
      [](Rows y, ConstRows x) { kernels::reference::add(y, x, other(x)); }, exact);
  add_operation(
      "scale", 1, 2, [](Rows y, ConstRows x) { kernels::scale(y, x, 0.7f); },
      [](Rows y, ConstRows x) { kernels::reference::scale(y, x, 0.7f); }, exact);
  // tanh to 4 u, a quotient before it and a product after it.
  add_operation(
      "soft_cap", 60, 2, [](Rows y, ConstRows x) { kernels::soft_cap(y, x, 30); },
      [](Rows y, ConstRows x) { kernels::reference::soft_cap(y, x, 30); },
      [](double, double) { return 30 * 7 * u; });
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
