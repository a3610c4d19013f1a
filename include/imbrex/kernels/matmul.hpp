// The product with a stored weight matrix, y = x W^T + b.
#pragma once

#include "imbrex/base/arithmetic.hpp"
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

/// How a product of many rows is computed: in tiles or pairs of bf16 or in int8 where the
/// arithmetic lets x be rounded and the set has such products of this format; else in f32.
enum class ManyRows { f32, int8, bf16, pairs };
inline ManyRows many_rows(const Kernels& kernels, Arithmetic arithmetic, Dtype dtype) {
  if (arithmetic != Arithmetic::int8) return ManyRows::f32;
  if (has_gemm_bf16(kernels, dtype)) return ManyRows::bf16;
  if (has_gemm_pairs(kernels, dtype)) return ManyRows::pairs;
  return has_gemm_int8(kernels, dtype) ? ManyRows::int8 : ManyRows::f32;
}

/// The same with the set and the arithmetic in use. Throws ConfigError as active_isa and
/// active_arithmetic do.
inline ManyRows many_rows(Dtype dtype) {
  return many_rows(active_kernels(), active_arithmetic(), dtype);
}

/// y[t][o] = sum over k of x[t][k] W[o][k], + bias[o] unless bias is null. x [T][K]; W [N][K], of
/// any dtype, with K a whole number of its blocks; y [T][N] overlaps neither. Summed in float, K in
/// runs of at most 256 or in 8 or more interleaved parts: the error of an element is below
/// (K/8 + 256 + 4) 2^-24 sum |x W|; and, where W is quantised and the arithmetic int8, that of
/// rounding x, below sum over blocks of 32 of max |x| / 253 sum |W| (with more rows than
/// rounded_gemv_most_rows, only where many_rows is int8). Where it is bf16 or pairs that is the
/// error of rounding x to bf16, 2^-8 sum |x W|, and as much again where W is quantised, which may
/// add up to 2^-7 sum |x W|, and K 2^-24 sum |x W| for the sum. Any size may be zero. The same bits
/// for any number of threads; a row's bits do depend on whether it came among more than
/// gemv_most_rows, or rounded_gemv_most_rows. Throws ConfigError as active_isa and
/// active_arithmetic do.
inline void matmul(Rows y, ConstRows x, const Matrix& w, const float* bias = nullptr) {
  // Asked for once: another thread may choose others at any time.
  const Kernels& kernels = active_kernels();
  const Arithmetic arithmetic = active_arithmetic();
  const bool rounded = rounded_kernel(kernels, arithmetic, w.dtype) != nullptr;
  if (x.rows <= (rounded ? rounded_gemv_most_rows : gemv_most_rows)) {
    return gemv(kernels, arithmetic, y, x, w, bias);
  }
  const ManyRows way = many_rows(kernels, arithmetic, w.dtype);
  if (way == ManyRows::bf16) {
    bf16* const memory = packed_memory();
    if (memory != nullptr) return gemm_bf16(kernels.bf16, y, x, w, bias, memory);
  }
  // Without memory for packed rows, the next best.
  if (way != ManyRows::f32 && has_gemm_int8(kernels, w.dtype)) {
    return gemm_int8(kernels.int8, y, x, w, bias);
  }
  gemm(way == ManyRows::pairs ? kernels.pairs : kernels.gemm, y, x, w, bias);
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
