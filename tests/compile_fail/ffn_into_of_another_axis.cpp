// error: ffn.into(y, x, ...): x must have the axes Time and the model's
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/ffn.hpp"

using namespace imbrex;

using Layer = FFN<Model<512>, Hidden<1376>>;

void mistake(const Layer& ffn, const Layer::Scratch& scratch) {
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto h = zeros<float>(Time<>(16), Hidden<1376>());
#ifdef SHOULD_FAIL
  ffn.into(x, h, scratch);
#else
  ffn.into(x, x, scratch);
#endif
}
