// error: ffn(x): the last axis of x must be the model's
// shows: axes_agree< | Hidden<2048> | Model<512>
#include "imbrex/layers/ffn.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const FFN<Model<512>, Hidden<2048>>& ffn) {
#ifdef SHOULD_FAIL
  ffn(zeros<float>(Time<>(16), Hidden<2048>()));
#else
  ffn(zeros<float>(Time<>(16), Model<512>()));
#endif
}
