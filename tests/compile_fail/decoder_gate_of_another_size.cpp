// error: linear(x): the last axis of x must be the layer's input axis
// shows: axes_agree< | Model<576> | Model<512>
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
  decoder.block(0).ffn.gate(zeros<float>(Time<>(16), Model<576>()));
#else
  decoder.block(0).ffn.gate(zeros<float>(Time<>(16), Model<512>()));
#endif
}
