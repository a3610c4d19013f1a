// error: linear.into(y, x): y must have x's axes, the last one the layer's output axis
// shows: Model<512> | Hidden<1376>
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Linear<Model<512>, Hidden<1376>>& gate) {
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto h = zeros<float>(Time<>(16), Hidden<1376>());
#ifdef SHOULD_FAIL
  gate.into(x, x);
#else
  gate.into(h, x);
#endif
}
