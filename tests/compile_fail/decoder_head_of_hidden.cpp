// error: linear(x): the last axis of x must be the layer's input axis
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/model/decoder.hpp"

using namespace imbrex;

using Small = Decoder<Dims{.layers = 2,
                           .vocab = 100,
                           .model = 512,
                           .heads = 8,
                           .kv_heads = 2,
                           .head_dim = 64,
                           .hidden = 1376}>;

void mistake(const Small& decoder) {
#ifdef SHOULD_FAIL
  decoder.head()(zeros<float>(Time<>(16), Hidden<1376>()));
#else
  decoder.head()(zeros<float>(Time<>(16), Model<512>()));
#endif
}
