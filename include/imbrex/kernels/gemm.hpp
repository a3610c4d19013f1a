// The product of many rows with a stored weight matrix: bound by arithmetic.
#pragma once

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`. A
/// template on the rows of a block, so that Eigen's product is compiled only where it is called.
template <index_t MostRows = tiles::gemm_rows>
void gemm(Rows y, ConstRows x, const Matrix& w, const float* bias) {
  const index_t panels = ceil_div(w.rows, tiles::gemm_outputs),
                chunks = ceil_div(x.rows, tiles::gemm_chunk);
  parallel_for(panels * chunks, [&](index_t item) {
    const index_t o = item / chunks * tiles::gemm_outputs, t = item % chunks * tiles::gemm_chunk;
    tiles::gemm<MostRows>(y, x, w, bias, t, lesser(tiles::gemm_chunk, x.rows - t), o,
                          lesser(tiles::gemm_outputs, w.rows - o));
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
