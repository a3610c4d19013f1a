// error: linear(x): the last axis of x must be the layer's input axis
// shows: axes_agree< | Model<576> | Model<512>
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Linear<Model<512>, Hidden<1376>>& gate) {
#ifdef SHOULD_FAIL
  gate(zeros<float>(Time<>(16), Model<576>()));
#else
  gate(zeros<float>(Time<>(16), Model<512>()));
#endif
}
