// The product of many rows with quantised weights, in integers.
#pragma once

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm_int8.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Work items that a product should have at least, so that two to four threads share it evenly; and
/// the outputs that an item should have, so that rounding its rows again costs less than
/// multiplying them.
inline constexpr index_t int8_items = 8, int8_least_outputs = 96;

/// Whether a set multiplies many rows with weights of this format in integers: quantised ones, with
/// AVX2, AVX-512 VNNI or the dot products of ARMv8.2. (AVX-512 without VNNI was not tried. AdvSIMD
/// without dot products takes four instructions, as many as products of floats, and has the sums to
/// scale besides.)
inline bool has_gemm_int8(const Kernels& kernels, Dtype dtype) {
  return kernels.int8.formats[static_cast<int>(dtype)].multiply != nullptr;
}

/// Outputs of a work item of a product of `chunks` chunks of rows with `outputs` outputs.
inline index_t int8_item_outputs(const Int8Gemm& gemm, index_t chunks, index_t outputs) {
  const index_t panels = ceil_div(outputs, gemm.outputs), half = ceil_div(panels, 2);
  const index_t least = ceil_div(int8_least_outputs, gemm.outputs);
  const index_t some = greater(panels * chunks / int8_items, lesser(least, half));
  return gemm.outputs *
         tiles::even_part(panels, lesser(tiles::int8_outputs / gemm.outputs, some), 1);
}

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`, x
/// rounded as reference::round_activations says. For formats that `kernel` has. A row's bits do
/// not depend on the other rows.
inline void gemm_int8(const Int8Gemm& kernel, Rows y, ConstRows x, const Matrix& w,
                      const float* bias) {
  if (x.rows == 0 || w.rows == 0) return;
  const index_t rows = tiles::even_part(x.rows, tiles::int8_chunk, 1);
  const index_t chunks = ceil_div(x.rows, rows);
  const index_t outputs = int8_item_outputs(kernel, chunks, w.rows);
  parallel_for(ceil_div(w.rows, outputs) * chunks, [&](index_t item) {
    const index_t o = item / chunks * outputs, t = item % chunks * rows;
    tiles::gemm_int8(kernel, {y, x, w, t, lesser(rows, x.rows - t), o, lesser(outputs, w.rows - o)},
                     bias);
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
