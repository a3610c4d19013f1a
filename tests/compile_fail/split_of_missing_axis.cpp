// error: split<A>(x, outer, inner): x must have the axis A
// shows: Hidden | Batch<2> | Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  split<Hidden>(x, Heads<8>(), HeadDim<64>());
#else
  split<Model>(x, Heads<8>(), HeadDim<64>());
#endif
}
