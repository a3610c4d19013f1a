// The product of a few rows with a stored weight matrix: bound by reading the weights, which are
// read once, in their stored format, and never written out.
#pragma once

#include "imbrex/base/arithmetic.hpp"
#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemv.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Weights of a work item: 18 kB (Q4_0) to 128 kB (F32), 1 to 10 us of reading where a core gets 13
/// GB/s. Threads that come to the last items are that far apart at most, and claiming an item is
/// one atomic operation.
inline constexpr index_t gemv_item_weights = 32768;

/// Outputs of a work item of a product with rounded activations: whole groups. What an item begins
/// with is called for by nobody where another thread has the item before, so items have up to four
/// times gemv_item_weights, as long as 64 of them, before they are rounded up to whole groups,
/// share a matrix.
inline index_t rounded_item_outputs(index_t outputs, index_t columns) {
  const index_t least = greater(1, gemv_item_weights / greater(1, columns));
  return rounded_group * ceil_div(greater(least, lesser(4 * least, outputs / 64)), rounded_group);
}

/// Columns that rounded activations are multiplied by in a run, a sum of its own: arranged,
/// rounded_most_rows of them take 192 kB of the caller's stack.
inline constexpr index_t rounded_run = 8192;

/// A run of columns, from k on, of a product with rounded activations: added to y.
inline void gemv_run(const Rounded& kernel, Rows y, ConstRows x, const Matrix& w, index_t k,
                     index_t columns) {
  alignas(64) std::byte arranged[rounded_most_rows * arranged_bytes(rounded_run)];
  kernel.arrange({x.data + k, x.stride, x.rows, columns, arranged});
  const index_t block = rounded_item_outputs(w.rows, columns);
  parallel_for(ceil_div(w.rows, block), [&](index_t item) {
    const index_t first = item * block, count = lesser(block, w.rows - first);
    kernel.multiply({y.data + first, y.stride, w.row(first) + row_bytes(w.dtype, k), w.row_bytes,
                     count, arranged, x.rows, columns});
  });
}

/// The product with x rounded to int8, which happens once, on the calling thread.
inline void rounded_gemv(const Rounded& kernel, Rows y, ConstRows x, const Matrix& w,
                         const float* bias) {
  for (index_t t = 0; t < x.rows; ++t) {
    for (index_t o = 0; o < w.rows; ++o) y.row(t)[o] = bias == nullptr ? 0.0f : bias[o];
  }
  for (index_t t = 0; t < x.rows; t += rounded_most_rows) {
    const index_t rows = lesser(rounded_most_rows, x.rows - t);
    for (index_t k = 0; k < w.cols; k += rounded_run) {
      gemv_run(kernel, {y.row(t), rows, y.cols, y.stride}, {x.row(t), rows, x.cols, x.stride}, w, k,
               lesser(rounded_run, w.cols - k));
    }
  }
}

/// What `gemv` multiplies a format by where x is to be rounded to int8; null where it is not.
inline const Rounded* rounded_kernel(const Kernels& kernels, Arithmetic arithmetic, Dtype dtype) {
  const Rounded& kernel = kernels.rounded.by_dtype[static_cast<int>(dtype)];
  const bool wanted = kernel.multiply != nullptr && arithmetic == Arithmetic::int8;
  return wanted ? &kernel : nullptr;
}

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`.
/// By the dot product of an instruction set, in f32, or for quantised W and Arithmetic::int8 with x
/// rounded as in reference::round_activations. A row's bits do not depend on the other rows.
inline void gemv(const Kernels& kernels, Arithmetic arithmetic, Rows y, ConstRows x,
                 const Matrix& w, const float* bias) {
  if (const Rounded* rounded = rounded_kernel(kernels, arithmetic, w.dtype)) {
    return rounded_gemv(*rounded, y, x, w, bias);
  }
  const index_t block = greater(1, gemv_item_weights / greater(1, w.cols));
  parallel_for(ceil_div(w.rows, block), [&](index_t item) {
    tiles::gemv(kernels, y, x, w, bias, item * block, lesser(w.rows, (item + 1) * block));
  });
}

/// The same with the set and the arithmetic in use. Throws ConfigError as active_isa and
/// active_arithmetic do.
inline void gemv(Rows y, ConstRows x, const Matrix& w, const float* bias) {
  gemv(active_kernels(), active_arithmetic(), y, x, w, bias);
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
