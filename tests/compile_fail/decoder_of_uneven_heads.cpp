// error: Decoder: the number of KvHeads must divide that of Heads
// shows: heads_divide< | Heads<8> | KvHeads<3>
#include "imbrex/model/decoder.hpp"

using namespace imbrex;

void mistake(const Config& config, const DecoderWeights& weights) {
#ifdef SHOULD_FAIL
  Decoder<Dims{.heads = 8, .kv_heads = 3}> decoder(config, weights);
#else
  Decoder<Dims{.heads = 8, .kv_heads = 2}> decoder(config, weights);
#endif
}
