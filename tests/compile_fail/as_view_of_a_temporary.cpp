// error: as_view<A...>(m): m must be a variable, not a temporary
// shows: owns_memory<
#include "imbrex/interop/eigen.hpp"

using namespace imbrex;

void mistake(const Eigen::MatrixXf& a) {
#ifdef SHOULD_FAIL
  auto x = as_view<Time<>, Model<>>(Eigen::MatrixXf(2 * a));
#else
  const Eigen::MatrixXf twice = 2 * a;
  auto x = as_view<Time<>, Model<>>(twice);
#endif
}
