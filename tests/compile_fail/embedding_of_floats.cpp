// error: embedding(ids): ids must hold token_t
// shows: tokens
#include "imbrex/layers/embedding.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Embedding<Vocab<100>, Model<512>>& embedding) {
#ifdef SHOULD_FAIL
  embedding(zeros<float>(Batch<>(2), Time<>(16)));
#else
  embedding(zeros<token_t>(Batch<>(2), Time<>(16)));
#endif
}
