// An activation times a number.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/lanes.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = factor x; y may be x.
inline void scale(Rows y, ConstRows x, float factor) {
  for_each_row(y.rows, y.cols, [&](index_t i) {
    tiles::map(y.cols, y.row(i), x.row(i), [factor](tiles::Lanes v) { return v * factor; });
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
