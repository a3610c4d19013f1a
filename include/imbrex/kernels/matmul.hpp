// The product with a stored weight matrix, y = x W^T + b.
#pragma once

#include "imbrex/kernels/gemm.hpp"
#include "imbrex/kernels/gemm_bf16.hpp"
#include "imbrex/kernels/gemm_int8.hpp"
#include "imbrex/kernels/gemv.hpp"
#include "imbrex/kernels/operands.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Up to this many rows of x, products straight from the stored weights are the better way: reading
/// the weights is most of the work, and `gemm` would spend more on decoding and transposing them
/// than on multiplying. With x rounded to int8, taking them out and multiplying costs less.
inline constexpr index_t gemv_most_rows = 4, rounded_gemv_most_rows = 16;

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null. x [T][K]; W [N][K], of
/// any dtype, with K a whole number of its blocks; y [T][N] overlaps neither. Summed in float, K in
/// runs of at most gemm_inputs or in 8 or more interleaved parts: the error of an element is below
/// (K/8 + 256 + 4) 2^-24 sum |x W|; and, where W is quantised and the arithmetic int8, that of
/// rounding x, below sum over blocks of 32 of max |x| / 253 sum |W| (with more rows than
/// rounded_gemv_most_rows, only where multiplies_in_int8). Where multiplies_in_bf16 it is that of
/// rounding x to bf16, 2^-8 sum |x W|, and as much again where W is quantised, which may add up to
/// 2^-7 sum |x W|, and K 2^-24 sum |x W| for the sum. Any size may be zero. The same bits for
/// any number of threads; a row's bits do depend on whether it came among more than gemv_most_rows,
/// or rounded_gemv_most_rows.
inline void matmul(Rows y, ConstRows x, const Matrix& w, const float* bias = nullptr) {
  const bool rounded = x.rows > gemv_most_rows && x.rows <= rounded_gemv_most_rows &&
                       rounded_kernel(w.dtype) != nullptr;
  if (x.rows <= gemv_most_rows || rounded) return gemv(y, x, w, bias);
  if (multiplies_in_bf16(w.dtype)) {
    bf16* const memory = packed_memory();
    if (memory != nullptr) return gemm_bf16(active_kernels().bf16, y, x, w, bias, memory);
  }
  if (multiplies_in_int8(w.dtype)) return gemm_int8(y, x, w, bias);
  gemm(y, x, w, bias);
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
