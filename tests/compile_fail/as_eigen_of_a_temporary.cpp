// error: as_eigen(x): x must be a variable or a view, not a temporary
// shows: outlives_the_call< | Model<8>
#include "imbrex/interop/eigen.hpp"

using namespace imbrex;

Tensor<float, Time<4>, Model<8>> made() { return zeros<float>(Time<4>(), Model<8>()); }

void mistake() {
#ifdef SHOULD_FAIL
  auto m = as_eigen(made());
#else
  auto x = made();
  auto m = as_eigen(x);
#endif
}
