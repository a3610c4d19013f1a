// error: slice<A>(x, from, count): x must have the axis A
// shows: Time | Batch<2> | Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Batch<2>(), Model<512>());
#ifdef SHOULD_FAIL
  slice<Time>(x, 0, 1);
#else
  slice<Batch>(x, 0, 1);
#endif
}
