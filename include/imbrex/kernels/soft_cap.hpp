// Logits held within (-cap, cap) without a corner (Gemma 2).
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/exp.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = cap tanh(x / cap), cap > 0; y may be x.
inline void soft_cap(Rows y, ConstRows x, float cap) {
  for_each_row(y.rows, y.cols, [&](index_t i) {
    tiles::map(y.cols, y.row(i), x.row(i),
               [cap](tiles::Lanes v) { return cap * tiles::tanh(v / cap); });
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
