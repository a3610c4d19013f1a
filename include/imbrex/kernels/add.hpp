// The sum of two activations: residual connections.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/kernels/tiles/lanes.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y = a + b, all of one size; y may be a or b.
inline void add(Rows y, ConstRows a, ConstRows b) {
  for_each_row(y.rows, y.cols, [&](index_t i) {
    tiles::map(y.cols, y.row(i), a.row(i), b.row(i),
               [](tiles::Lanes u, tiles::Lanes v) { return u + v; });
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
