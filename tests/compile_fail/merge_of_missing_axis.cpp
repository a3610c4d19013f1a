// error: merge<A, B>(x, merged): x must have the axes A and B, B right after A
// shows: KvHeads | Time<3> | Heads<8> | HeadDim<64>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Time<3>(), Heads<8>(), HeadDim<64>());
#ifdef SHOULD_FAIL
  merge<KvHeads, HeadDim>(x, Model<512>());
#else
  merge<Heads, HeadDim>(x, Model<512>());
#endif
}
