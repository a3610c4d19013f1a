// Softmax of each row.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/softmax.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y_j = e^(x_j - m) / sum_k e^(x_k - m), m = max x, row by row; y may be x. A row of nothing but
/// -inf gives zeros, a row with a NaN gives NaN throughout.
inline void softmax(Rows y, ConstRows x) {
  for_each_row(y.rows, y.cols, [&](index_t i) { tiles::softmax(y.row(i), x.row(i), y.cols); });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
