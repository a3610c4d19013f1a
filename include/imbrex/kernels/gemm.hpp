// The product of many rows with a stored weight matrix: bound by arithmetic.
#pragma once

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Work items that a product should have at least, so that two to eight threads share it evenly;
/// more outputs in an item save copies of x.
inline constexpr index_t gemm_items = 16;

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`.
/// By the micro-kernel of an instruction set: in f32 whatever the format is, or, where words are
/// pairs, with x rounded to bf16, for formats that `kernel` loads. A row's bits do not depend on
/// the other rows.
inline void gemm(const Gemm& kernel, Rows y, ConstRows x, const Matrix& w, const float* bias) {
  const index_t chunks = ceil_div(x.rows, tiles::gemm_chunk);
  const index_t panels = ceil_div(w.rows, kernel.outputs);
  const index_t most = tiles::gemm_outputs / kernel.outputs;
  const index_t outputs = kernel.outputs * lesser(most, greater(1, panels * chunks / gemm_items));
  parallel_for(ceil_div(w.rows, outputs) * chunks, [&](index_t item) {
    const index_t o = item / chunks * outputs, t = item % chunks * tiles::gemm_chunk;
    tiles::gemm(kernel,
                {y, x, w, t, lesser(tiles::gemm_chunk, x.rows - t), o, lesser(outputs, w.rows - o)},
                bias);
  });
}

/// Whether a set multiplies many rows with weights of this format in pairs of bf16: BF16, where the
/// processor gains by it.
inline bool has_gemm_pairs(const Kernels& kernels, Dtype dtype) {
  return kernels.pairs.load[static_cast<int>(dtype)] != nullptr;
}

/// The same in f32 by the set in use. Throws ConfigError as active_isa does.
inline void gemm(Rows y, ConstRows x, const Matrix& w, const float* bias) {
  gemm(active_kernels().gemm, y, x, w, bias);
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
