// error: attention.into(y, x, positions, ...): positions must be index_t with the axis
// shows: are_positions< | float | Model<512>
#include "imbrex/layers/attention.hpp"

using namespace imbrex;

using Layer = Attention<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>>;

void mistake(const Layer& attention, Layer::Segments segments, const Layer::Scratch& scratch) {
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto positions = zeros<index_t>(Time<>(16));
#ifdef SHOULD_FAIL
  attention.into(x, x, x, segments, scratch);
#else
  attention.into(x, x, positions, segments, scratch);
#endif
}
