// error: slice<A>(x, from, count): x must be a variable or a view, not a temporary
// shows: outlives_the_call< | Tensor< | Model<512>
#include "imbrex/tensor/by_name.hpp"

#include "imbrex/layers/block.hpp"

using namespace imbrex;

using Tile = Block<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>>;

void mistake(const Tile& block, const Tensor<float, Time<>, Model<512>>& x) {
#ifdef SHOULD_FAIL
  auto last = slice<Time>(block(x), 2, 1);
#else
  auto y = block(x);
  auto last = slice<Time>(y, 2, 1);
#endif
}
