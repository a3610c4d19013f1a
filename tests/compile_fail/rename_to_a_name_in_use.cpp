// error: rename<A, B>(x): x must not have the axis B already
// shows: Model<2> | Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  rename<Batch, Model>(x);
#else
  rename<Batch, Keys>(x);
#endif
}
