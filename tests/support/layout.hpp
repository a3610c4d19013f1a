// Rows in memory, for tests of operations on rows.
#pragma once

#include <vector>

#include "imbrex/kernels/operands.hpp"
#include "tests/support/guarded.hpp"

namespace imbrex::tests {

/// Numbers in a row to try: none, and around one, two and four vectors of every instruction set.
inline constexpr index_t row_sizes[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,   10, 11, 12,
                                        13, 14, 15, 16, 17, 18, 23, 24, 25, 30,  31, 32, 33,
                                        34, 47, 48, 49, 63, 64, 65, 67, 96, 100, 577};

/// `rows` rows of `n` numbers, `stride` apart. The last one ends the memory.
struct RowLayout {
  index_t rows, n, stride;

  index_t size() const { return (rows - 1) * stride + n; }
  kernels::Rows of(const GuardedFloats& x) const { return {x.data(), rows, n, stride}; }
  kernels::Rows of(std::vector<float>& x) const { return {x.data(), rows, n, stride}; }

  /// Rows that are all `value`.
  std::vector<float> filled(float value) const {
    return std::vector<float>(static_cast<std::size_t>(size()), value);
  }
};

}  // namespace imbrex::tests
