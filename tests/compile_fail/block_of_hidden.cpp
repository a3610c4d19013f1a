// error: block(x): x must end with the axes Time and the model's
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/block.hpp"

using namespace imbrex;

using Tile = Block<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>>;

void mistake(const Tile& block) {
#ifdef SHOULD_FAIL
  block(zeros<float>(Batch<>(2), Time<>(16), Hidden<1376>()));
#else
  block(zeros<float>(Batch<>(2), Time<>(16), Model<512>()));
#endif
}
