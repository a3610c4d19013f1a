// Tensors are matrices of Eigen's, and back, whatever a user's own definitions make of Eigen's
// types.
#include <cstdio>
#include <numeric>
#include <vector>

// A user may have included Eigen before.
#include <Eigen/Core>

#include "imbrex/interop/eigen.hpp"
#include "imbrex/tensor.hpp"

using namespace imbrex;

namespace {

int wrong = 0;

void expect(bool right, const char* what) {
  if (!right) std::printf("%s\n", what);
  wrong += right ? 0 : 1;
}

}  // namespace

int main() {
#if defined(EIGEN_DEFAULT_TO_ROW_MAJOR)
  static_assert(Eigen::MatrixXf::IsRowMajor, "the user's flag holds");
#else
  static_assert(!Eigen::MatrixXf::IsRowMajor, "the library does not set flags");
#endif

  // One float off every alignment: rows 0 1 2 and 3 4 5.
  std::vector<float> memory(7);
  std::iota(memory.begin(), memory.end(), -1.0f);
  const index_t strides[] = {3, 1};
  const View<float, Time<>, Model<3>> x(memory.data() + 1, Shape<Time<>, Model<3>>(Time<>(2), {}),
                                        strides);
  const auto m = as_eigen(x);
  expect(m.rows() == 2 && m.cols() == 3 && m(1, 0) == 3, "as_eigen: rows and columns");

  const Eigen::MatrixXf gram = m * m.transpose();  // 0+1+4, 0+4+10, 9+16+25
  expect(gram(0, 0) == 5 && gram(0, 1) == 14 && gram(1, 0) == 14 && gram(1, 1) == 50, "product");

  Eigen::MatrixXf other = m;  // in the user's order
  const auto view = as_view<Time<>, Model<3>>(other);
  expect(view(0, 2) == 2 && view(1, 0) == 3, "as_view: rows and columns");
  const auto back = as_eigen(view);
  expect(back.data() == other.data() && back(1, 2) == 5, "there and back");

  Eigen::VectorXf column = other.col(1);
  expect(as_view<Time<>>(column)(1) == 4 && as_eigen(as_view<Time<>>(column)).sum() == 5, "vector");
  return wrong;
}
