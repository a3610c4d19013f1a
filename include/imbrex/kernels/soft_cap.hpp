// Logits held within (-cap, cap) without a corner (Gemma 2).
#pragma once

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = cap tanh(x / cap), cap > 0; y may be x. Throws ConfigError as active_isa does.
inline void soft_cap(Rows y, ConstRows x, float cap) {
  const MapRowBy function = active_kernels().elementwise.soft_cap;
  for_each_row(y.rows, y.cols, [&](index_t i) { function(y.row(i), x.row(i), y.cols, cap); });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
