// Rows of a table of embeddings, one after the other.
#pragma once

#include <cstdint>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/decode.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// Row i of y = row ids[i] of the table, in float.
inline void embed(Rows y, const std::int32_t* ids, const Matrix& table) {
  for (index_t i = 0; i < y.rows; ++i) {
    decode(table.dtype, table.row(ids[i]), table.cols, y.row(i));
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
