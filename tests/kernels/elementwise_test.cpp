#include <doctest/doctest.h>

#include <vector>

#include "imbrex/kernels/add.hpp"
#include "imbrex/kernels/reference/add.hpp"
#include "imbrex/kernels/reference/scale.hpp"
#include "imbrex/kernels/scale.hpp"
#include "tests/support/compare.hpp"

using namespace imbrex;
using namespace imbrex::tests;

// One rounding a number: the bits of the reference.
TEST_CASE("add and scale at every size up to 33, with strides, in place") {
  for (index_t n = 0; n <= 33; ++n) {
    const index_t rows = 4, stride = n + 3;
    const std::vector<float> a = uniform(rows * stride, 1), b = uniform(rows * stride, 2);
    std::vector<float> got(a.size(), 8.0f), want = got;
    kernels::add({got.data(), rows, n, stride}, {a.data(), rows, n, stride},
                 {b.data(), rows, n, stride});
    kernels::reference::add({want.data(), rows, n, stride}, {a.data(), rows, n, stride},
                            {b.data(), rows, n, stride});
    CHECK(different_bits(got, want) == "");

    got = want = a;
    kernels::add({got.data(), rows, n, stride}, {got.data(), rows, n, stride},
                 {b.data(), rows, n, stride});
    kernels::reference::add({want.data(), rows, n, stride}, {want.data(), rows, n, stride},
                            {b.data(), rows, n, stride});
    CHECK(different_bits(got, want) == "");

    got = want = a;
    kernels::scale({got.data(), rows, n, stride}, {got.data(), rows, n, stride}, 45.25f);
    kernels::reference::scale({want.data(), rows, n, stride}, {want.data(), rows, n, stride},
                              45.25f);
    CHECK(different_bits(got, want) == "");
  }
}
