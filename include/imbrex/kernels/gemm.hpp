// The product of many rows with a stored weight matrix: bound by arithmetic.
#pragma once

#include <string>
#include <utility>

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`. A
/// template on the rows of a block, so that Eigen's product is compiled only where it is called.
/// Throws CapacityError where rows are farther apart than Eigen can count.
template <index_t MostRows = tiles::gemm_rows>
void gemm(Rows y, ConstRows x, const Matrix& w, const float* bias) {
  // Eigen counts in a type that a program may choose (EIGEN_DEFAULT_DENSE_INDEX_TYPE).
  const index_t stride = greater(greater(x.stride, y.stride), w.row_bytes / 4);
  if (!std::in_range<Eigen::Index>(stride)) {
    raise(CapacityError("gemm: rows " + std::to_string(stride) +
                        " floats apart are too far apart for Eigen's index type"));
  }
  const index_t panels = ceil_div(w.rows, tiles::gemm_outputs),
                chunks = ceil_div(x.rows, tiles::gemm_chunk);
  parallel_for(panels * chunks, [&](index_t item) {
    const index_t o = item / chunks * tiles::gemm_outputs, t = item % chunks * tiles::gemm_chunk;
    tiles::gemm<MostRows>(y, x, w, bias, t, lesser(tiles::gemm_chunk, x.rows - t), o,
                          lesser(tiles::gemm_outputs, w.rows - o));
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
