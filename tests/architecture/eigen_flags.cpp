// Products are right whatever a user's own definitions make of Eigen.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// A user may have included Eigen before, with other shapes and options.
#include <Eigen/Core>

#include "imbrex/base/random.hpp"
#include "imbrex/kernels/matmul.hpp"

using namespace imbrex;

namespace {

/// The largest |error| of y = x W^T relative to sum |x W| 2^-24, which matmul bounds by K/8 + 260.
double worst_error(index_t rows, index_t inputs, index_t outputs) {
  Random random(7);
  const auto numbers = [&](index_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = random.normal();
    return values;
  };
  // One float off every alignment, and rows of y a little apart.
  const std::vector<float> x = numbers(rows * inputs + 1), w = numbers(outputs * inputs + 1);
  std::vector<float> y(static_cast<std::size_t>(rows * (outputs + 3)), -1.0f);
  kernels::matmul(
      {y.data(), rows, outputs, outputs + 3}, {x.data() + 1, rows, inputs, inputs},
      {reinterpret_cast<const std::byte*>(w.data() + 1), Dtype::f32, outputs, inputs, inputs * 4});
  double worst = 0;
  for (index_t t = 0; t < rows; ++t) {
    for (index_t o = 0; o < outputs; ++o) {
      double sum = 0, size = 0;
      for (index_t k = 0; k < inputs; ++k) {
        const double product = double{x[static_cast<std::size_t>(1 + t * inputs + k)]} *
                               double{w[static_cast<std::size_t>(1 + o * inputs + k)]};
        sum += product;
        size += std::fabs(product);
      }
      const double got = double{y[static_cast<std::size_t>(t * (outputs + 3) + o)]};
      worst = std::fmax(worst, std::fabs(got - sum) / size * 0x1p24);
    }
  }
  return worst;
}

}  // namespace

int main() {
  for (const index_t rows : {1, 5, 33}) {
    for (const index_t inputs : {1, 31, 300}) {
      const double error = worst_error(rows, inputs, 70);
      if (!(error <= static_cast<double>(inputs) / 8 + 260)) {
        std::printf("%d rows, %d inputs: error %g\n", static_cast<int>(rows),
                    static_cast<int>(inputs), error);
        return 1;
      }
    }
  }
#if defined(EIGEN_DEFAULT_TO_ROW_MAJOR)
  static_assert(Eigen::MatrixXf::IsRowMajor, "the user's flag holds");
#else
  static_assert(!Eigen::MatrixXf::IsRowMajor, "the library does not set flags");
#endif
}
