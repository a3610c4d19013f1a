// The product of many rows with a stored weight matrix, in bf16 tiles.
#pragma once

#include <new>

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/gemm_bf16.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Whether a set multiplies many rows with weights of this format in bf16: one with tiles,
/// quantised weights and BF16. F32 and F16 weights are multiplied in f32 always: rounded to bf16
/// they would lose 16 and 3 bits, and F16's error would be twice that of BF16, whose weights are
/// exact.
inline bool has_gemm_bf16(const Kernels& kernels, Dtype dtype) {
  return kernels.bf16.rows.by_dtype[static_cast<int>(dtype)] != nullptr;
}

/// Work items that a product should have at least, so that two to eight threads share it evenly;
/// more outputs in an item save passes over x.
inline constexpr index_t bf16_items = 16;

/// Memory for packed rows of x, 4 MB, of which the system gives what is used. Every thread that
/// calls has its own, from its first product on to its end: x is packed once for all items, and
/// these may be run by any thread.
class PackedMemory {
 public:
  PackedMemory() : memory_(::operator new(bytes, std::align_val_t{64}, std::nothrow)) {}
  PackedMemory(const PackedMemory&) = delete;
  PackedMemory& operator=(const PackedMemory&) = delete;
  ~PackedMemory() { ::operator delete(memory_, std::align_val_t{64}); }

  /// Null where there was no memory.
  bf16* tiles() const { return static_cast<bf16*>(memory_); }

 private:
  static constexpr std::size_t bytes =
      static_cast<std::size_t>(tiles::bf16_rows * tiles::bf16_run) * sizeof(bf16);
  void* memory_;
};

/// Room for the packed rows of a product that this thread calls; null where there is no memory.
inline bf16* packed_memory() {
  static thread_local const PackedMemory memory;
  return memory.tiles();
}

/// A run of inputs, from k on, of at most bf16_rows rows: y = bias, or y where k > 0, + product.
inline void gemm_bf16_run(const Bf16Gemm& kernel, Rows y, ConstRows x, const Matrix& w, index_t k,
                          const tiles::PackedX& packed, const float* bias) {
  const ConstRows from{x.data + k, x.rows, packed.inputs, x.stride};
  parallel_for(ceil_div(x.rows, tile_rows),
               [&](index_t tile) { tiles::pack_rows(kernel, from, tile, packed); });
  const index_t panels = ceil_div(w.rows, tile_pair), most = tiles::bf16_outputs / tile_pair;
  const index_t outputs = tile_pair * lesser(most, greater(1, panels / bf16_items));
  parallel_for(ceil_div(w.rows, outputs), [&](index_t item) {
    const index_t o = item * outputs;
    tiles::gemm_bf16(kernel, {y, packed, w, k, o, lesser(outputs, w.rows - o)}, bias);
  });
}

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null; shapes as in `matmul`, x
/// and W rounded to bf16 (subnormal numbers to zeros), products exact, summed in f32. For formats
/// that `kernel` has rows of; `memory` has room for bf16_rows x bf16_run numbers. A row's bits do
/// not depend on the other rows.
inline void gemm_bf16(const Bf16Gemm& kernel, Rows y, ConstRows x, const Matrix& w,
                      const float* bias, bf16* memory) {
  if (x.rows == 0 || w.rows == 0) return;
  const index_t most = tiles::even_part(x.rows, tiles::bf16_rows, tile_pair);
  // Without inputs there is a run of none, as there is a y.
  const index_t columns = greater(1, w.cols);
  const index_t run = tiles::even_part(columns, tiles::bf16_run, tiles::bf16_chunk);
  for (index_t t = 0; t < x.rows; t += most) {
    const index_t rows = lesser(most, x.rows - t);
    for (index_t k = 0; k < columns; k += run) {
      gemm_bf16_run(kernel, {y.row(t), rows, y.cols, y.stride}, {x.row(t), rows, x.cols, x.stride},
                    w, k, {memory, rows, lesser(run, w.cols - k)}, bias);
    }
  }
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
