// error: embedding(ids): ids must not have the model's axis
// shows: Model<512>
#include "imbrex/layers/embedding.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Embedding<Vocab<100>, Model<512>>& embedding) {
#ifdef SHOULD_FAIL
  embedding(zeros<token_t>(Time<>(16), Model<512>()));
#else
  embedding(zeros<token_t>(Time<>(16)));
#endif
}
