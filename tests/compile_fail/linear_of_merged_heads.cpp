// error: linear(x): the last axis of x must be the layer's input axis
// shows: axes_agree< | Model<512> | Heads<8> | HeadDim<64>
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Linear<Axes<Heads<8>, HeadDim<64>>, Model<512>>& out) {
#ifdef SHOULD_FAIL
  out(zeros<float>(Time<>(16), Model<512>()));
#else
  out(zeros<float>(Time<>(16), Heads<8>(), HeadDim<64>()));
#endif
}
