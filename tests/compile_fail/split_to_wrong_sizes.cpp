// error: split<A>(x, outer, inner): the two sizes must multiply to the axis's
// shows: Heads<9> | HeadDim<64> | Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  split<Model>(x, Heads<9>(), HeadDim<64>());
#else
  split<Model>(x, Heads<8>(), HeadDim<64>());
#endif
}
