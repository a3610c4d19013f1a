// error: rope.turn(x, positions): positions must be index_t with the axis Time alone
// shows: are_positions< | int
#include "imbrex/layers/rope.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Rope<HeadDim<64>>& rope) {
  auto x = zeros<float>(Time<>(16), Heads<8>(), HeadDim<64>());
#ifdef SHOULD_FAIL
  rope.turn(x, zeros<std::int32_t>(Time<>(16)));
#else
  rope.turn(x, zeros<index_t>(Time<>(16)));
#endif
}
