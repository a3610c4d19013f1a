// Outputs of a few rows, one weight row after the other.
#pragma once

#include "imbrex/kernels/arch/kernels.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/decode.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Weights decoded at a time: one block of the largest formats; with their 1 kB of floats, and the
/// same of x, they stay in the first-level cache.
inline constexpr index_t gemv_run = 256;

/// The dot product of a stored row and a row of x, by way of floats.
inline float decoded_dot(Dot dot_f32, Dtype dtype, const std::byte* w, const float* x, index_t n) {
  float decoded[gemv_run], sum = 0;
  for (index_t k = 0; k < n; k += gemv_run) {
    const index_t run = lesser(gemv_run, n - k);
    decode(dtype, w + row_bytes(dtype, k), run, decoded);
    sum += dot_f32(reinterpret_cast<const std::byte*>(decoded), x + k, run);
  }
  return sum;
}

/// Outputs [first, last) of all rows.
inline void gemv(const Kernels& kernels, Rows y, ConstRows x, const Matrix& w, const float* bias,
                 index_t first, index_t last) {
  const Dot dot = kernels.dot[static_cast<int>(w.dtype)];
  const Dot dot_f32 = kernels.dot[static_cast<int>(Dtype::f32)];
  const Dots dots = x.rows > 1 ? kernels.dots[static_cast<int>(w.dtype)] : nullptr;
  for (index_t o = first; o < last; ++o) {
    const float start = bias == nullptr ? 0.0f : bias[o];
    float sums[most_dot_rows];
    for (index_t t = 0, rows = 1; t < x.rows; t += rows) {
      if (dots != nullptr) {
        rows = lesser(kernels.dot_rows, x.rows - t);
        dots(w.row(o), x.row(t), x.stride, rows, w.cols, sums);
      } else {
        sums[0] = dot != nullptr ? dot(w.row(o), x.row(t), w.cols)
                                 : decoded_dot(dot_f32, w.dtype, w.row(o), x.row(t), w.cols);
      }
      for (index_t i = 0; i < rows; ++i) y.row(t + i)[o] = start + sums[i];
    }
  }
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
