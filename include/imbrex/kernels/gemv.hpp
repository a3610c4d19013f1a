// The product of a few rows with a stored weight matrix: bound by reading the weights, which are
// read once, in their stored format, and never written out.
#pragma once

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemv.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Weights of a work item: some 30 us of work, several times what starting a team costs.
inline constexpr index_t gemv_item_weights = 32768;

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`.
/// By the dot product of the instruction set in use, in f32 whatever the format is. A row's bits do
/// not depend on the other rows. Throws ConfigError as active_isa does.
inline void gemv(Rows y, ConstRows x, const Matrix& w, const float* bias) {
  const Kernels& kernels = active_kernels();
  const index_t block = greater(1, gemv_item_weights / greater(1, w.cols));
  parallel_for(ceil_div(w.rows, block), [&](index_t item) {
    tiles::gemv(kernels, y, x, w, bias, item * block, lesser(w.rows, (item + 1) * block));
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
