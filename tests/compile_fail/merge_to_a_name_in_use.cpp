// error: merge<A, B>(x, merged): the name must differ from x's other axes
// shows: Time<3> | Time<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Time<3>(), Heads<8>(), HeadDim<64>());
#ifdef SHOULD_FAIL
  merge<Heads, HeadDim>(x, Time<512>());
#else
  merge<Heads, HeadDim>(x, Model<512>());
#endif
}
