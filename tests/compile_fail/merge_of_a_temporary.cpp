// error: merge<A, B>(x, merged): x must be a variable or a view, not a temporary
// shows: outlives_the_call< | Tensor< | Model<6>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

Tensor<float, Time<>, Model<6>> made();

void mistake() {
#ifdef SHOULD_FAIL
  auto y = merge<Time, Model>(made(), Keys<>(12));
#else
  auto x = made();
  auto y = merge<Time, Model>(x, Keys<>(12));
#endif
}
