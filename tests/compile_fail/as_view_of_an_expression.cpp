// error: as_view<A...>(m): m must lie in memory, and not be an expression
// shows: in_memory
#include "imbrex/interop/eigen.hpp"

using namespace imbrex;

void mistake(const Eigen::MatrixXf& a) {
#ifdef SHOULD_FAIL
  auto x = as_view<Time<>, Model<>>(2 * a);
#else
  auto x = as_view<Time<>, Model<>>(a);
#endif
}
