// error: attention.into(y, x, ...): x must have the axes Time and the model's
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/attention.hpp"

using namespace imbrex;

using Layer = Attention<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>>;

void mistake(const Layer& attention, const Tensor<index_t, Time<>>& positions,
             Layer::Segments segments, const Layer::Scratch& scratch) {
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto h = zeros<float>(Time<>(16), Hidden<1376>());
#ifdef SHOULD_FAIL
  attention.into(x, h, positions, segments, scratch);
#else
  attention.into(x, x, positions, segments, scratch);
#endif
}
