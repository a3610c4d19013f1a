// Rows of a table of embeddings.
#pragma once

#include <cstdint>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/decode.hpp"
#include "imbrex/kernels/row_blocks.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Row i of y = row ids[i] of the table, in float. The ids were checked: 0 <= id < table.rows.
inline void embed(Rows y, const std::int32_t* ids, const Matrix& table) {
  for_each_row(y.rows, y.cols,
               [&](index_t i) { decode(table.dtype, table.row(ids[i]), table.cols, y.row(i)); });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
