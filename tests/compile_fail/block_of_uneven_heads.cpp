// error: block: the number of KvHeads must divide that of Heads
// shows: heads_divide< | Heads<8> | KvHeads<3>
#include "imbrex/layers/block.hpp"

using namespace imbrex;

#ifdef SHOULD_FAIL
Block<Model<512>, Heads<8>, KvHeads<3>, HeadDim<64>, Hidden<1376>> block;
#else
Block<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>> block;
#endif
