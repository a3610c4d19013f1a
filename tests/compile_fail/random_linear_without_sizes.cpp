// error: random_linear<In, Out>(random): sizes that the compiler does not know are
// shows: known
#include "imbrex/layers/random_weight.hpp"

using namespace imbrex;

void mistake(Random& random) {
#ifdef SHOULD_FAIL
  random_linear<Model<>, Hidden<>>(random);
#else
  random_linear<Model<512>, Hidden<1376>>(random);
#endif
}
