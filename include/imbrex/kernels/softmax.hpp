// Softmax of each row.
#pragma once

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y_j = e^(x_j - m) / sum_k e^(x_k - m), m = max x, row by row; y may be x. A row of nothing but
/// -inf gives zeros, a row with a NaN gives NaN throughout. Throws ConfigError as active_isa does.
inline void softmax(Rows y, ConstRows x) {
  const Kernels& kernels = active_kernels();
  for_each_row(y.rows, y.cols, [&](index_t i) {
    const float peak = kernels.softmax.largest(x.row(i), y.cols);
    const double total = kernels.softmax.exponentials(y.row(i), x.row(i), y.cols, peak);
    if (total == 0) return;  // nothing but -inf: zeros already
    kernels.elementwise.scale(y.row(i), y.row(i), y.cols, static_cast<float>(1.0 / total));
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
