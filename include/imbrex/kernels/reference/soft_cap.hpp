// Logits held within (-cap, cap) (Gemma 2), in double.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/reference/math.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y = cap tanh(x / cap).
constexpr void soft_cap(Rows y, ConstRows x, float cap) {
  const double c = static_cast<double>(cap);
  for (index_t i = 0; i < y.rows; ++i) {
    for (index_t j = 0; j < y.cols; ++j) {
      y.row(i)[j] = static_cast<float>(c * tanh(static_cast<double>(x.row(i)[j]) / c));
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
