// The sum of two activations.
#pragma once

#include "imbrex/kernels/operands.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y = a + b.
constexpr void add(Rows y, ConstRows a, ConstRows b) {
  for (index_t i = 0; i < y.rows; ++i) {
    for (index_t j = 0; j < y.cols; ++j) y.row(i)[j] = a.row(i)[j] + b.row(i)[j];
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
