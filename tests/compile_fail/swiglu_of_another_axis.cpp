// error: ffn(x): the last axis of x must be the model's
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/swiglu.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const SwiGLU<Model<512>, Hidden<1376>>& ffn) {
#ifdef SHOULD_FAIL
  ffn(zeros<float>(Time<>(16), Hidden<1376>()));
#else
  ffn(zeros<float>(Time<>(16), Model<512>()));
#endif
}
