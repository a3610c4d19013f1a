// The sum of two activations: residual connections.
#pragma once

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = a + b, all of one size; y may be a or b. Throws ConfigError as active_isa does.
inline void add(Rows y, ConstRows a, ConstRows b) {
  const MapRows function = active_kernels().elementwise.add;
  for_each_row(y.rows, y.cols, [&](index_t i) { function(y.row(i), a.row(i), b.row(i), y.cols); });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
