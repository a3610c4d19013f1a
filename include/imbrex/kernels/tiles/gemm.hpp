// A block of the product of many rows with a stored weight matrix: weights of any format are
// decoded panel by panel into floats, or those in BF16 into pairs, and the panels multiplied by the
// micro-kernel of the instruction set.
//
// For a run of gemm_words words, the panels of the block's outputs are decoded once, 128 kB that
// stay in second-level cache. Then a few rows of x at a time are copied side by side (as they lie,
// their distance may be a multiple of 4 kB, and first-level caches keep only 8 or 12 such lines),
// rounded where words are pairs, and pass over all the panels. Beside that, the stored rows of the
// next run are called for. Copies and panels lie on the stack: nothing is allocated.
#pragma once

#include <cstring>

#include "imbrex/kernels/arch/parts/gemm.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/prefetch.hpp"

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

/// A part of stored rows: the first `bytes` of each of `rows`.
struct StoredPart {
  const std::byte* start;
  index_t row_bytes, rows, bytes;
};

/// Copies them to the first of `to_rows` rows of to_bytes; all else there is zeros.
inline void copy_stored(const StoredPart& from, std::byte* to, index_t to_rows, index_t to_bytes) {
  std::memset(to, 0, static_cast<std::size_t>(to_rows * to_bytes));
  for (index_t i = 0; i < from.rows; ++i) {
    std::memcpy(to + i * to_bytes, from.start + i * from.row_bytes,
                static_cast<std::size_t>(from.bytes));
  }
}

/// The panel of weights [o, o + outputs) x [k, k + inputs). Of one at the edge of the matrix, with
/// fewer outputs than panels have or with inputs that are not whole vectors, the stored rows are
/// copied first, and zero bytes for what it lacks: zeros, or numbers that nothing is made of.
inline void load_panel(const Gemm& gemm, const Matrix& w, index_t o, index_t outputs, index_t k,
                       index_t inputs, float* panel) {
  const LoadPanel load = gemm.load[static_cast<int>(w.dtype)];
  const std::byte* start = w.row(o) + row_bytes(w.dtype, k);
  if (outputs == gemm.outputs && inputs % 8 == 0) return load(start, w.row_bytes, inputs, panel);
  std::byte copy[gemm_most_panel * gemm_words * 4];  // rows of floats; others are shorter
  const index_t whole = ceil_div(inputs, 8) * 8, bytes = row_bytes(w.dtype, whole);
  copy_stored({start, w.row_bytes, outputs, row_bytes(w.dtype, inputs)}, copy, gemm.outputs, bytes);
  load(copy, bytes, whole, panel);
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

/// Calls for the stored rows of the block's run behind the inputs before k, within `tiles` calls.
inline Prefetch next_run(const GemmBlock& b, index_t k, index_t inputs, index_t tiles) {
  const index_t next = lesser(inputs, b.w.cols - k);
  return {b.w.row(b.o) + row_bytes(b.w.dtype, k), b.w.row_bytes, next > 0 ? b.outputs : 0,
          row_bytes(b.w.dtype, next), tiles};
}

/// y = start + the part of the product that inputs [k, k + inputs) give; start has the rows and
/// columns of the block.
inline void multiply_inputs(const Gemm& gemm, const GemmBlock& b, ConstRows start, index_t k,
                            index_t inputs) {
  alignas(64) float panels[gemm_outputs * gemm_words], copies[2][gemm_most_rows * gemm_words];
  for (index_t o = 0; o < b.outputs; o += gemm.outputs) {
    load_panel(gemm, b.w, b.o + o, lesser(gemm.outputs, b.outputs - o), k, inputs,
               panels + o * gemm_words);
  }
  const index_t step = even_part(b.rows, gemm.rows, 1), words = ceil_div(inputs, gemm.numbers);
  Prefetch prefetch =
      next_run(b, k + inputs, inputs, ceil_div(b.rows, step) * ceil_div(b.outputs, gemm.outputs));
  bool copied = false;
  for (index_t t = 0; t < b.rows; t += step) {
    const index_t rows = lesser(step, b.rows - t);
    float *x = copies[0], *next_x = copies[1];
    if (t / step % 2 != 0) x = copies[1], next_x = copies[0];
    if (!copied) gemm.copy({b.x.row(b.t + t) + k, b.x.stride, rows, inputs, x});
    copied = inputs % (gemm.outputs * gemm.numbers) == 0 &&
             t + step + rows <= b.rows;  // what comes is as much
    for (index_t o = 0; o < b.outputs; o += gemm.outputs) {
      prefetch.some();
      const bool copies_now = copied && o + gemm.outputs >= b.outputs;
      multiply_panel<gemm_most_rows, gemm_most_panel>(
          gemm.multiply,
          PanelProduct{b.y.row(b.t + t) + b.o + o, b.y.stride, start.row(t) + o, start.stride, x,
                       panels + o * gemm_words, rows, words,
                       copies_now ? b.x.row(b.t + t + step) + k : nullptr, b.x.stride, next_x},
          gemm.outputs, lesser(gemm.outputs, b.outputs - o));
    }
  }
}

/// The block; k in runs of at most gemm_words words, in a fixed order, added to the bias. Runs are
/// whole blocks of every format: of 32 numbers; of 256 where K is a multiple of that.
inline void gemm(const Gemm& gemm, const GemmBlock& b, const float* bias) {
  float first[gemm_outputs] = {};
  if (bias != nullptr) copy_rows({first, 1, b.outputs, 0}, {bias + b.o, 1, b.outputs, 0});
  const Rows y{b.y.row(b.t) + b.o, b.rows, b.outputs, b.y.stride};
  ConstRows start{first, b.rows, b.outputs, 0};
  if (b.w.cols == 0) return copy_rows(y, start);
  const index_t run = even_part(b.w.cols, gemm_words * gemm.numbers, 32 * gemm.numbers);
  for (index_t k = 0; k < b.w.cols; k += run, start = y) {
    multiply_inputs(gemm, b, start, k, lesser(run, b.w.cols - k));
  }
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
