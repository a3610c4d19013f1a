// An activation times a number.
#pragma once

#include "imbrex/kernels/operands.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y = factor x.
constexpr void scale(Rows y, ConstRows x, float factor) {
  for (index_t i = 0; i < y.rows; ++i) {
    for (index_t j = 0; j < y.cols; ++j) y.row(i)[j] = x.row(i)[j] * factor;
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
