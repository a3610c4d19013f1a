// error: decoder(ids): ids must hold token_t
// shows: tokens
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
  decoder(zeros<float>(Batch<>(2), Time<>(16)));
#else
  decoder(zeros<token_t>(Batch<>(2), Time<>(16)));
#endif
}
