// An activation times a number.
#pragma once

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = factor x; y may be x. Throws ConfigError as active_isa does.
inline void scale(Rows y, ConstRows x, float factor) {
  const MapRowBy function = active_kernels().elementwise.scale;
  for_each_row(y.rows, y.cols, [&](index_t i) { function(y.row(i), x.row(i), y.cols, factor); });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
