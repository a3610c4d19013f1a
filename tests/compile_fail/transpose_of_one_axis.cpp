// error: transpose(x): x must have two axes or more
// shows: Model<512>
#include "imbrex/tensor/by_name.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
  auto x = zeros<float>(Model<512>());
  auto y = zeros<float>(Time<3>(), Model<512>());
#ifdef SHOULD_FAIL
  transpose(x);
#else
  transpose(y);
#endif
}
