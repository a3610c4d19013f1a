// The programs that docs/kernels.md quotes, compiled and run.
#include <doctest/doctest.h>

#include <cstdio>
#include <vector>

#include "imbrex/base/isa.hpp"
#include "imbrex/kernels/matmul.hpp"

using namespace imbrex;

TEST_CASE("the programs in kernels.md") {
  {
    const Isa before = active_isa();
    if (available(Isa::avx2)) use_isa(Isa::avx2);
    std::printf("%s\n", kernels::active_kernels().name);
    use_isa(before);
  }
  {
    const std::vector<float> w{1, 0, -1, 2, 1, 0}, x{1, 2, 3};  // W [2][3], x [1][3]
    std::vector<float> y(2);
    const auto* bytes = reinterpret_cast<const std::byte*>(w.data());
    const kernels::Matrix matrix{bytes, Dtype::f32, 2, 3, 12};
    kernels::matmul({y.data(), 1, 2, 2}, {x.data(), 1, 3, 3}, matrix);  // y = x W^T = (-2, 4)
    CHECK(y == std::vector<float>{-2, 4});
  }
}
