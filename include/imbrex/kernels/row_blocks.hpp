// How operations on independent rows are dealt to threads.
#pragma once

#include "imbrex/base/threads.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Numbers in a work item of an elementwise operation. Starting a team costs some microseconds, a
/// number about a nanosecond: an item should be worth several starts.
inline constexpr index_t row_block_numbers = 16384;

/// Runs body(i) for every row i; rows are dealt in blocks of about row_block_numbers numbers.
template <class Body>
void for_each_row(index_t rows, index_t cols, const Body& body) {
  const index_t block = greater(1, row_block_numbers / greater(1, cols));
  parallel_for(ceil_div(rows, block), [&](index_t item) {
    const index_t last = lesser(rows, (item + 1) * block);
    for (index_t i = item * block; i < last; ++i) body(i);
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
