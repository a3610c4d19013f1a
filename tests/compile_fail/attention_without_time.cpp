// error: attention(x): x must end with the axes Time and the model's
// shows: axes_agree< | Batch<2> | Time< | Model<512>
#include "imbrex/layers/attention.hpp"

using namespace imbrex;

void mistake(const Attention<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>>& attention) {
#ifdef SHOULD_FAIL
  attention(zeros<float>(Batch<2>(), Model<512>()));
#else
  attention(zeros<float>(Batch<2>(), Time<>(16), Model<512>()));
#endif
}
