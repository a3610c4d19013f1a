// error: axis<A>(x): x must have the axis A
// shows: Time | Batch<2> | Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  axis<Time>(x);
#else
  axis<Batch>(x);
#endif
}
