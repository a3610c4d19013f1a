// imbrex::imbrex: the headers and no other library, one thread.
#include <cstdio>

#include "imbrex/imbrex.hpp"

#if defined(_OPENMP)
#error "imbrex::imbrex must not turn OpenMP on"
#endif
#if __has_include(<Eigen/Core>)
#error "imbrex::imbrex must not bring Eigen along"
#endif

using namespace imbrex;

static_assert(count_parameters(presets::llama2_7b).total == 6'738'415'616);

int main() {
  const Tensor<float, Hidden<2>, Model<3>> matrix(Shape<Hidden<2>, Model<3>>(), {1, 2, 3, 4, 5, 6});
  const Linear<Model<3>, Hidden<2>> linear{Weight<Axes<Hidden<2>>, Axes<Model<3>>>(matrix)};
  const Tensor<float, Time<1>, Model<3>> x(Shape<Time<1>, Model<3>>(), {1, 10, 100});
  const auto y = linear(x);
  std::printf("%g %g\n", y(0, 0), y(0, 1));
  return y(0, 0) == 321 && y(0, 1) == 654 ? 0 : 1;
}
