// error: linear = other: convert other to the layer's type, Linear<In, Out>(other)
// shows: Model<512> | Hidden<1376>
#include "imbrex/layers/linear.hpp"

using namespace imbrex;

void mistake(Linear<Model<512>, Hidden<1376>>& gate, const Linear<Model<>, Hidden<>>& loaded) {
#ifdef SHOULD_FAIL
  gate = loaded;
#else
  gate = Linear<Model<512>, Hidden<1376>>(loaded);
#endif
}
