// error: permute<A...>(x): x must be a variable or a view, not a temporary
// shows: outlives_the_call< | Tensor< | Model<6>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

Tensor<float, Time<>, Model<6>> made();

void mistake() {
#ifdef SHOULD_FAIL
  auto y = permute<Model, Time>(made());
#else
  auto x = made();
  auto y = permute<Model, Time>(x);
#endif
}
