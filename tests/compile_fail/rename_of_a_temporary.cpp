// error: rename<A, B>(x): x must be a variable or a view, not a temporary
// shows: outlives_the_call< | Tensor< | Model<6>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

Tensor<float, Time<>, Model<6>> made();

void mistake() {
#ifdef SHOULD_FAIL
  auto y = rename<Time, Keys>(made());
#else
  auto x = made();
  auto y = rename<Time, Keys>(x);
#endif
}
