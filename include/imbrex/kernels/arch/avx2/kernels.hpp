// The kernels in AVX2, FMA and F16C: compiled for it whatever the compiler's flags are, and
// run only where the machine has it. Nothing is included from the standard library inside the
// region.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "imbrex/kernels/arch/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12: its own intrinsics
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

namespace imbrex::kernels::arch::avx2::inline IMBREX_ABI {

#include "imbrex/kernels/arch/avx2/simd.inl"
#include "imbrex/kernels/tiles/stored_dot.inl"
#include "imbrex/kernels/tiles/round_activations.inl"
#include "imbrex/kernels/tiles/float_word.inl"
#include "imbrex/kernels/tiles/multiply_panel.inl"
#include "imbrex/kernels/tiles/panel.inl"
#include "imbrex/kernels/tiles/panel_k.inl"
#include "imbrex/kernels/tiles/exp.inl"
#include "imbrex/kernels/tiles/elementwise.inl"
#include "imbrex/kernels/tiles/norm.inl"
#include "imbrex/kernels/tiles/softmax.inl"
#include "imbrex/kernels/tiles/rope.inl"
#include "imbrex/kernels/tiles/attention.inl"
#include "imbrex/kernels/arch/avx2/bytes.inl"
#include "imbrex/kernels/tiles/panel_int8.inl"
#include "imbrex/kernels/tiles/round_row_of_blocks.inl"
#include "imbrex/kernels/arch/avx2/sum_bytes.inl"
#include "imbrex/kernels/tiles/multiply_int8.inl"
#include "imbrex/kernels/tiles/kernels_int8.inl"
#include "imbrex/kernels/tiles/rounded_product.inl"
#include "imbrex/kernels/tiles/rounded_product_k.inl"
#include "imbrex/kernels/tiles/kernels.inl"

}  // namespace imbrex::kernels::arch::avx2::inline IMBREX_ABI

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif  // __x86_64__
