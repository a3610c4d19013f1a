// A block of the product of many rows with a stored weight matrix: weights of any format are
// decoded panel by panel into floats, and the panels multiplied by the micro-kernel of the
// instruction set.
//
// For a run of gemm_inputs columns, the panels of the block's outputs are decoded once, 128 kB that
// stay in second-level cache. Then a few rows of x at a time are copied side by side (as they lie,
// their distance may be a multiple of 4 kB, and first-level caches keep only 8 or 12 such lines),
// and pass over all the panels. Copies and panels lie on the stack: nothing is allocated.
#pragma once

#include <cstring>

#include "imbrex/kernels/arch/parts/gemm.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/decode.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

inline constexpr index_t gemm_outputs = 128;  ///< outputs of a block at most: 128 kB of panels
inline constexpr index_t gemm_chunk = 256;    ///< rows of x that share a decoded panel

inline void copy_rows(Rows to, ConstRows from) {
  for (index_t i = 0; i < to.rows; ++i) {
    std::memcpy(to.row(i), from.row(i), static_cast<std::size_t>(to.cols) * sizeof(float));
  }
}

inline ConstRows part(ConstRows x, index_t row, index_t rows, index_t col, index_t cols) {
  return {x.row(row) + col, rows, cols, x.stride};
}

/// A block of the product: rows [t, t + rows) of outputs [o, o + outputs).
struct GemmBlock {
  Rows y;
  ConstRows x;
  Matrix w;
  index_t t, rows, o, outputs;
};

/// The panel of weights [o, o + outputs) x [k, k + inputs). One at the edge of the matrix, with
/// fewer outputs than panels have or with inputs that are not whole vectors, is decoded row by row;
/// outputs that it lacks are zeros.
inline void load_panel(const Gemm& gemm, const Matrix& w, index_t o, index_t outputs, index_t k,
                       index_t inputs, float* panel) {
  const std::byte* start = w.row(o) + row_bytes(w.dtype, k);
  if (outputs == gemm.outputs && inputs % 8 == 0) {
    return gemm.load[static_cast<int>(w.dtype)](start, w.row_bytes, inputs, panel);
  }
  float row[gemm_inputs];
  for (index_t i = 0; i < gemm.outputs; ++i) {
    if (i < outputs) decode(w.dtype, start + i * w.row_bytes, inputs, row);
    for (index_t j = 0; j < inputs; ++j) panel[j * gemm.outputs + i] = i < outputs ? row[j] : 0.0f;
  }
}

/// The product `p` with a panel of `width` outputs, of which y has `outputs`. Of a panel at the
/// edge only what belongs to y is read and written.
template <index_t MostRows, index_t MostOutputs, class Product>
void multiply_panel(void (*multiply)(const Product&), Product p, index_t width, index_t outputs) {
  if (outputs == width) return multiply(p);
  float tile[MostRows * MostOutputs] = {};
  const Rows edge{tile, p.rows, outputs, width}, y{p.y, p.rows, outputs, p.y_stride};
  copy_rows(edge, {p.start, p.rows, outputs, p.start_stride});
  p.y = tile, p.start = tile;
  p.y_stride = p.start_stride = width;
  multiply(p);
  copy_rows(y, edge);
}

/// The size of parts that cut `count` evenly, as few as have `most` at most and are multiples of
/// `unit`: 15 rows by at most 14 are 8 and 7.
inline index_t even_part(index_t count, index_t most, index_t unit) {
  return ceil_div(ceil_div(count, ceil_div(count, most)), unit) * unit;
}

/// y = start + the part of the product that inputs [k, k + inputs) give; start has the rows and
/// columns of the block.
inline void multiply_inputs(const Gemm& gemm, const GemmBlock& b, ConstRows start, index_t k,
                            index_t inputs) {
  alignas(64) float panels[gemm_outputs * gemm_inputs], copies[2][gemm_most_rows * gemm_inputs];
  for (index_t o = 0; o < b.outputs; o += gemm.outputs) {
    load_panel(gemm, b.w, b.o + o, lesser(gemm.outputs, b.outputs - o), k, inputs,
               panels + o * gemm_inputs);
  }
  const index_t step = even_part(b.rows, gemm.rows, 1);
  bool copied = false;
  for (index_t t = 0; t < b.rows; t += step) {
    const index_t rows = lesser(step, b.rows - t);
    float *x = copies[0], *next_x = copies[1];
    if (t / step % 2 != 0) x = copies[1], next_x = copies[0];
    if (!copied) copy_rows({x, rows, inputs, gemm_inputs}, part(b.x, b.t + t, rows, k, inputs));
    copied = inputs % gemm.outputs == 0 && t + step + rows <= b.rows;  // what comes is as much
    for (index_t o = 0; o < b.outputs; o += gemm.outputs) {
      const bool copies_now = copied && o + gemm.outputs >= b.outputs;
      multiply_panel<gemm_most_rows, gemm_most_panel>(
          gemm.multiply,
          PanelProduct{b.y.row(b.t + t) + b.o + o, b.y.stride, start.row(t) + o, start.stride, x,
                       panels + o * gemm_inputs, rows, inputs,
                       copies_now ? b.x.row(b.t + t + step) + k : nullptr, b.x.stride, next_x},
          gemm.outputs, lesser(gemm.outputs, b.outputs - o));
    }
  }
}

/// The block; k in runs of at most gemm_inputs, in a fixed order, added to the bias. Runs are whole
/// blocks of every format: of 32 numbers; of 256 where K is a multiple of that.
inline void gemm(const Gemm& gemm, const GemmBlock& b, const float* bias) {
  float first[gemm_outputs] = {};
  if (bias != nullptr) copy_rows({first, 1, b.outputs, 0}, {bias + b.o, 1, b.outputs, 0});
  const Rows y{b.y.row(b.t) + b.o, b.rows, b.outputs, b.y.stride};
  ConstRows start{first, b.rows, b.outputs, 0};
  if (b.w.cols == 0) return copy_rows(y, start);
  const index_t run = even_part(b.w.cols, gemm_inputs, 32);
  for (index_t k = 0; k < b.w.cols; k += run, start = y) {
    multiply_inputs(gemm, b, start, k, lesser(run, b.w.cols - k));
  }
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
