// error: linear(x): the layer's output axis must differ from x's other axes
// shows: Vocab<100> | Model<512>
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Linear<Model<512>, Vocab<100>>& head) {
#ifdef SHOULD_FAIL
  head(zeros<float>(Vocab<100>(), Model<512>()));
#else
  head(zeros<float>(Time<>(100), Model<512>()));
#endif
}
