// The kernels in AVX-512 F, BW, DQ and VL: compiled for it whatever the compiler's flags are, and
// run only where the machine has it. Nothing is included from the standard library inside the
// region.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "imbrex/kernels/arch/avx2/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(                                                    \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12: its own intrinsics
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#endif

namespace imbrex::kernels::arch::avx512::inline IMBREX_ABI {

#include "imbrex/kernels/arch/avx512/simd.inl"
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
using avx2::rounded_kernels;  // which see in avx512_vnni for processors that have VNNI
inline constexpr Int8Gemm int8_kernels = {};  // avx512_vnni has them
#include "imbrex/kernels/tiles/kernels.inl"

}  // namespace imbrex::kernels::arch::avx512::inline IMBREX_ABI

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif  // __x86_64__
