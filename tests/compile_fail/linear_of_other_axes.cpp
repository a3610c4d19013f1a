// error: linear = other: the axes of other must be Out and In
// shows: KvHeads<8> | Heads<8> | HeadDim<64> | Model<512>
#include "imbrex/layers/linear.hpp"

using namespace imbrex;

void mistake(Linear<Model<512>, Axes<KvHeads<8>, HeadDim<64>>>& k,
             const Linear<Model<512>, Axes<Heads<8>, HeadDim<64>>>& q,
             const Linear<Model<512>, Axes<KvHeads<8>, HeadDim<64>>>& other) {
  k = other;
#ifdef SHOULD_FAIL
  k = q;
#else
  (void)q;
#endif
}
