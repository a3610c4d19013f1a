// error: as_view<A...>(m): the axes must have m's sizes
// shows: Model<4> | Model<3>
#include "imbrex/interop/eigen.hpp"

using namespace imbrex;

void mistake(const Eigen::Matrix<float, 2, 3>& m) {
#ifdef SHOULD_FAIL
  auto x = as_view<Time<>, Model<4>>(m);
#else
  auto x = as_view<Time<>, Model<3>>(m);
#endif
}
