// error: permute<A...>(x): every axis of x must be named, once
// shows: Keys | Time<3> | Heads<8> | HeadDim<64>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Time<3>(), Heads<8>(), HeadDim<64>());
#ifdef SHOULD_FAIL
  permute<Heads, Keys, HeadDim>(x);
#else
  permute<Heads, Time, HeadDim>(x);
#endif
}
