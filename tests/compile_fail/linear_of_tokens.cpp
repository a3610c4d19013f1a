// error: layers take activations of float
// shows: floats
#include "imbrex/layers/linear.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake(const Linear<Model<512>, Hidden<1376>>& gate) {
#ifdef SHOULD_FAIL
  gate(zeros<int>(Time<>(16), Model<512>()));
#else
  gate(zeros<float>(Time<>(16), Model<512>()));
#endif
}
