// imbrex::eigen: Eigen is found.
#include "imbrex/interop/eigen.hpp"

#include <cstdio>

int main() {
  using namespace imbrex;
  Eigen::MatrixXf ones = Eigen::MatrixXf::Ones(2, 3);
  as_view<Time<>, Model<3>>(ones)(1, 2) = 41;
  const Tensor<float, Time<1>, Model<2>> x(Shape<Time<1>, Model<2>>(), {1, -1});
  std::printf("%g %g\n", static_cast<double>(ones.sum()), static_cast<double>(as_eigen(x).sum()));
  return ones.sum() == 46 && as_eigen(x).sum() == 0 ? 0 : 1;
}
