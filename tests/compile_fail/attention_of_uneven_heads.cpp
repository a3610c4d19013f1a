// error: attention: the number of KvHeads must divide that of Heads
// shows: heads_divide< | Heads<8> | KvHeads<3>
#include "imbrex/layers/attention.hpp"

using namespace imbrex;

#ifdef SHOULD_FAIL
Attention<Model<512>, Heads<8>, KvHeads<3>, HeadDim<64>> attention;
#else
Attention<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>> attention;
#endif
