// error: merge<A, B>(x, merged): the two sizes must multiply to the new axis's
// shows: Heads<8> | HeadDim<64> | Model<576>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Time<3>(), Heads<8>(), HeadDim<64>());
#ifdef SHOULD_FAIL
  merge<Heads, HeadDim>(x, Model<576>());
#else
  merge<Heads, HeadDim>(x, Model<512>());
#endif
}
