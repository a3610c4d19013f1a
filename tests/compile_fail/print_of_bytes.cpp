// error: to_string(x): the elements of x must be floats or integers
// shows: numbers
#include "imbrex/tensor/print.hpp"
#include "imbrex/tensor/tensor.hpp"

using namespace imbrex;

void mistake() {
#ifdef SHOULD_FAIL
  to_string(zeros<std::byte>(Time<>(16)));
#else
  to_string(zeros<std::int32_t>(Time<>(16)));
#endif
}
