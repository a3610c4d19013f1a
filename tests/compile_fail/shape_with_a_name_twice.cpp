// error: no axis name may stand twice in a shape
// shows: Time<3> | Time<4>
#include "imbrex/tensor/shape.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
#ifdef SHOULD_FAIL
  Shape<Time<3>, Time<4>> shape;
#else
  Shape<Time<3>, Keys<4>> shape;
#endif
}
