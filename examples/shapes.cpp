// Axes, tensors, views, weights, and what a mistake says.
#include <cstdio>

#include "imbrex/layers/linear.hpp"
#include "imbrex/layers/random_weight.hpp"
#include "imbrex/tensor.hpp"

using namespace imbrex;

namespace {

/// An axis of one's own is one line.
// clang-format off
template <index_t N = dyn> struct Expert : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Expert"; };
// clang-format on

template <class X>
void show(const char* name, const X& x) {
  std::printf("%s\n", shape_text(x, name).c_str());
}

void axes_and_tensors() {
  auto x = zeros<float>(Batch<>(2), Time<>(16), Model<512>());  // two sizes at run time, one static
  x(1, 15, 0) = 3;                                              // not checked; at() is
  show("x", x);
  show("experts", zeros<float>(Expert<4>(), Model<512>()));
  std::printf("dim<Time>(x) = %d\n\n", static_cast<int>(dim<Time>(x)));
}

void views() {
  auto x = zeros<float>(Batch<>(2), Time<>(16), Model<512>());
  auto heads = split<Model>(x, Heads<8>(), HeadDim<64>());
  auto by_head = permute<Batch, Heads, Time, HeadDim>(heads);
  auto last = slice<Time>(x, 15, 1);
  auto keys = rename<Time, Keys>(x);
  by_head(0, 7, 15, 63) = 1;  // all of them are x's elements
  show("heads", heads);
  show("by_head", by_head);
  show("last", last);
  show("keys", keys);
  std::printf("last(0, 0, 511) = %g\n\n", static_cast<double>(last(0, 0, 511)));
}

void sizes_at_run_time() {
  auto x = zeros<float>(Time<>(16), Model<512>());
  View<const float, Time<>, Model<>> loose = x;          // static to dynamic: implicit
  View<const float, Time<>, Model<512>> checked(loose);  // and back: explicit, checked
  show("checked", checked);
  try {
    View<const float, Time<>, Model<576>> wrong(loose);
  } catch (const ShapeError& error) {
    std::printf("%s\n", error.what());
  }
}

void weights() {
  Random random(1);
  auto w = random_weight<Axes<Hidden<>>, Axes<Model<>>>(Shape<Hidden<>>(Hidden<>(1376)),
                                                        Shape<Model<>>(Model<>(512)), random);
  Linear<Model<>, Hidden<>> gate(w, "blk.17.ffn_gate");
  try {
    gate(zeros<float>(Batch<>(2), Time<>(16), Model<>(576)));
  } catch (const ShapeError& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main() {
  axes_and_tensors();
  views();
  sizes_at_run_time();
  weights();
}
