// A block of the product of many rows with quantised weights, in integers: x is rounded to int8,
// the weights are bytes as they are, and the micro-kernel multiplies bytes.
//
// For a run of int8_inputs columns, the block's rows of x are rounded once, 90 kB that stay in
// second-level cache. Then each panel of outputs is decoded, into first-level cache, and the rows
// pass over it. All that lies on the stack, 141 kB; nothing is allocated.
#pragma once

#include "imbrex/kernels/arch/parts/gemm_int8.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"
#include "imbrex/kernels/tiles/prefetch.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

inline constexpr index_t int8_chunk = 128;     ///< rows of x that share a decoded panel
inline constexpr index_t int8_outputs = 1024;  ///< outputs that share rounded rows, at most

/// What a block needs of the stack.
struct Int8Buffers {
  Int8Row x[int8_chunk];
  alignas(64) std::byte panel[int8_panel_bytes];
};

/// Sets reach the rows of a panel through offsets of 32 bits: farther apart, rows are copied.
inline constexpr index_t int8_most_row_bytes = (index_t{1} << 31) / int8_most_outputs - 1;

/// The panel of weights [o, o + outputs) x [k, k + inputs). Where it has fewer outputs than panels
/// have, they are copied, and zeros for those that it lacks.
inline void load_int8_panel(const Int8Gemm& gemm, const Matrix& w, index_t o, index_t outputs,
                            index_t k, index_t inputs, std::byte* panel) {
  const LoadInt8Panel load = gemm.formats[static_cast<int>(w.dtype)].load;
  const std::byte* start = w.row(o) + row_bytes(w.dtype, k);
  if (outputs == gemm.outputs && w.row_bytes <= int8_most_row_bytes) {
    return load(start, w.row_bytes, inputs, panel);
  }
  constexpr index_t most_bytes = int8_inputs / 32 * 34;  // Q8_0
  std::byte copy[int8_most_outputs * most_bytes];
  const index_t bytes = row_bytes(w.dtype, inputs);
  copy_stored({start, w.row_bytes, outputs, bytes}, copy, gemm.outputs, bytes);
  load(copy, bytes, inputs, panel);
}

/// y = start + the part of the product that inputs [k, k + inputs) give; start has the rows and
/// columns of the block.
inline void multiply_int8_inputs(const Int8Gemm& gemm, const GemmBlock& b, ConstRows start,
                                 index_t k, index_t inputs, Int8Buffers& buffers) {
  const Int8Format& format = gemm.formats[static_cast<int>(b.w.dtype)];
  for (index_t t = 0; t < b.rows; ++t) format.round(b.x.row(b.t + t) + k, inputs, buffers.x[t]);
  for (index_t o = 0; o < b.outputs; o += gemm.outputs) {
    const index_t outputs = lesser(gemm.outputs, b.outputs - o), next = o + outputs;
    load_int8_panel(gemm, b.w, b.o + o, outputs, k, inputs, buffers.panel);
    Prefetch prefetch(b.w.row(b.o + next) + row_bytes(b.w.dtype, k), b.w.row_bytes,
                      lesser(gemm.outputs, b.outputs - next), row_bytes(b.w.dtype, inputs),
                      ceil_div(b.rows, gemm.rows));
    for (index_t t = 0, rows = 0; t < b.rows; t += rows) {
      rows = even_part(b.rows - t, gemm.rows, 1);
      prefetch.some();
      multiply_panel<int8_most_rows, int8_most_outputs>(
          format.multiply,
          Int8Product{b.y.row(b.t + t) + b.o + o, b.y.stride, start.row(t) + o, start.stride,
                      buffers.x + t, buffers.panel, rows, inputs},
          gemm.outputs, outputs);
    }
  }
}

/// The block; k in runs of at most int8_inputs, in a fixed order, added to the bias.
inline void gemm_int8(const Int8Gemm& gemm, const GemmBlock& b, const float* bias) {
  float first[int8_outputs] = {};
  if (bias != nullptr) copy_rows({first, 1, b.outputs, 0}, {bias + b.o, 1, b.outputs, 0});
  const Rows y{b.y.row(b.t) + b.o, b.rows, b.outputs, b.y.stride};
  ConstRows start{first, b.rows, b.outputs, 0};
  if (b.w.cols == 0) return copy_rows(y, start);
  Int8Buffers buffers;
  const index_t run = even_part(b.w.cols, int8_inputs, traits(b.w.dtype).block);
  for (index_t k = 0; k < b.w.cols; k += run, start = y) {
    multiply_int8_inputs(gemm, b, start, k, lesser(run, b.w.cols - k), buffers);
  }
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
