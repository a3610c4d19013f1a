// error: block.into(x, positions, ...): positions must be index_t with the axis Time alone
// shows: are_positions< | float | Model<512>
#include "imbrex/layers/block.hpp"

using namespace imbrex;

using Layer = Block<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>>;

void mistake(const Layer& block, Layer::Segments segments, const Layer::Scratch& scratch) {
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto positions = zeros<index_t>(Time<>(16));
#ifdef SHOULD_FAIL
  block.into(x, x, segments, scratch);
#else
  block.into(x, positions, segments, scratch);
#endif
}
