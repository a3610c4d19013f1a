// error: split<A>(x, outer, inner): the names must differ from x's other axes
// shows: Batch<2> | Batch<8> | HeadDim<64>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  split<Model>(x, Batch<8>(), HeadDim<64>());
#else
  split<Model>(x, Heads<8>(), HeadDim<64>());
#endif
}
