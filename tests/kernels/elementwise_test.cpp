#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/add.hpp"
#include "imbrex/kernels/reference/add.hpp"
#include "imbrex/kernels/reference/scale.hpp"
#include "imbrex/kernels/scale.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/layout.hpp"

using namespace imbrex;
using namespace imbrex::tests;

// One rounding a number: the bits of the reference.
TEST_CASE("add and scale on every set, at every size, with strides, in place") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const index_t n : row_sizes) {
      CAPTURE(n);
      const RowLayout at{4, n, n + 3};
      std::vector<float> numbers = uniform(at.size(), 1);
      if (n > 2) numbers[1] = -0.0f, numbers[2] = std::numeric_limits<float>::infinity();
      const GuardedFloats a(numbers), b(uniform(at.size(), 2)), got(at.filled(8));
      std::vector<float> want = at.filled(8);
      kernels::add(at.of(got), at.of(a), at.of(b));
      kernels::reference::add(at.of(want), at.of(a), at.of(b));
      CHECK(different_bits(got.values(), want) == "");

      kernels::scale(at.of(got), at.of(a), 45.25f);
      kernels::reference::scale(at.of(want), at.of(a), 45.25f);
      CHECK(different_bits(got.values(), want) == "");

      want = numbers;  // in place
      kernels::reference::add(at.of(want), at.of(want), at.of(b));
      kernels::reference::scale(at.of(want), at.of(want), -0.7f);
      kernels::add(at.of(a), at.of(a), at.of(b));
      kernels::scale(at.of(a), at.of(a), -0.7f);
      CHECK(different_bits(a.values(), want) == "");
    }
  }
}
