// error: dim<A>(x): x must have the axis A
// shows: Time | Batch<2> | Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  dim<Time>(x);
#else
  dim<Batch>(x);
#endif
}
