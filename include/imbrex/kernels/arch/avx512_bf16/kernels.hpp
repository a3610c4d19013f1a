// The kernels in AVX-512 for processors that also have VNNI and AVX512_BF16, and multiply pairs of
// bf16 as fast as they multiply floats: those of arch/avx512_vnni, and products of such pairs.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "imbrex/kernels/arch/avx512_vnni/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,"     \
                                                   "avx512vnni,avx512bf16,avx2,fma,f16c"))), \
                             apply_to = function)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12: its own intrinsics
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma,f16c")
#endif

namespace imbrex::kernels::arch::avx512_bf16::inline IMBREX_ABI {

using namespace avx512_vnni;  // the vocabulary

#include "imbrex/kernels/arch/avx512_bf16/simd.inl"
#include "imbrex/kernels/tiles/multiply_panel.inl"
#include "imbrex/kernels/tiles/gemm_pairs.inl"

inline constexpr Kernels kernels = with_pairs(avx512_vnni::kernels, gemm_pairs);

}  // namespace imbrex::kernels::arch::avx512_bf16::inline IMBREX_ABI

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif  // __x86_64__
