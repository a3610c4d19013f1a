// error: rope.turn(x, positions): x must have the axes Time, Heads or KvHeads, and the
// shows: axes_agree< | HeadDim<32> | HeadDim<64>
#include "imbrex/layers/rope.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Rope<HeadDim<64>>& rope, const Tensor<index_t, Time<>>& positions) {
#ifdef SHOULD_FAIL
  auto x = zeros<float>(Time<>(16), Heads<8>(), HeadDim<32>());
#else
  auto x = zeros<float>(Time<>(16), Heads<8>(), HeadDim<64>());
#endif
  rope.turn(x, positions);
}
