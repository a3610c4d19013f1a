// error: linear(x): the last axis of x must be the layer's input axis
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Linear<Model<512>, Hidden<1376>>& gate) {  // maps [..., Model] to [..., Hidden]
  auto x = zeros<float>(Batch<>(2), Time<>(16), Model<512>());  // two sizes at run time, one static
  auto h = gate(x);  // Tensor<float, Batch<>, Time<>, Hidden<1376>>
#ifdef SHOULD_FAIL
  gate(h);
#else
  gate(x);
#endif
}
