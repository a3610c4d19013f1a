// error: embedding.into(y, ids): y must have the axes of ids, then the model's
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/embedding.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Embedding<Vocab<100>, Model<512>>& embedding) {
  auto ids = zeros<token_t>(Time<>(16));
  auto x = zeros<float>(Time<>(16), Model<512>());
  auto h = zeros<float>(Time<>(16), Hidden<1376>());
#ifdef SHOULD_FAIL
  embedding.into(h, ids);
#else
  embedding.into(x, ids);
#endif
}
