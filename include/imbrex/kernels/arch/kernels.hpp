// What an instruction set offers: one table of functions for each set.
#pragma once

#include "imbrex/base/dtype.hpp"
#include "imbrex/kernels/arch/parts/attention.hpp"
#include "imbrex/kernels/arch/parts/attention_bf16.hpp"
#include "imbrex/kernels/arch/parts/dot.hpp"
#include "imbrex/kernels/arch/parts/elementwise.hpp"
#include "imbrex/kernels/arch/parts/gemm.hpp"
#include "imbrex/kernels/arch/parts/gemm_bf16.hpp"
#include "imbrex/kernels/arch/parts/gemm_int8.hpp"
#include "imbrex/kernels/arch/parts/norm.hpp"
#include "imbrex/kernels/arch/parts/rope.hpp"
#include "imbrex/kernels/arch/parts/rounded.hpp"
#include "imbrex/kernels/arch/parts/softmax.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// The functions of one instruction set; constant-initialised.
struct Kernels {
  const char* name;      ///< the set's, as IMBREX_ISA spells it
  Dot dot[dtype_count];  ///< by Dtype; null where rows are decoded to f32 first
  index_t dot_rows;
  Dots dots[dtype_count];  ///< by Dtype; null where rows are taken one by one
  Gemm gemm;
  Attention attention;
  Elementwise elementwise;
  Norm norm;
  Softmax softmax;
  Rope rope;
  RoundActivations round_activations;
  RoundedKernels rounded;
  Int8Gemm int8;
  Bf16Gemm bf16;
  Bf16Attention bf16_attention;
  Gemm pairs;  ///< in pairs of bf16; all null where a set has none
};

/// The same kernels with other products of rounded activations.
constexpr Kernels with_rounded(Kernels kernels, const RoundedKernels& rounded) {
  kernels.rounded = rounded;
  return kernels;
}

/// The same kernels with other products in integers.
constexpr Kernels with_int8(Kernels kernels, const Int8Gemm& int8) {
  kernels.int8 = int8;
  return kernels;
}

/// The same kernels with products of pairs of bf16.
constexpr Kernels with_pairs(Kernels kernels, const Gemm& pairs) {
  kernels.pairs = pairs;
  return kernels;
}

/// The same kernels under the name of a set that has products and attention in bf16 besides.
constexpr Kernels with_bf16(Kernels kernels, const char* name, const Bf16Gemm& gemm,
                            const Bf16Attention& attention) {
  kernels.name = name;
  kernels.bf16 = gemm;
  kernels.bf16_attention = attention;
  return kernels;
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
