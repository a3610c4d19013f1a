// The kernels in AVX-512 for processors that also have VNNI, which multiplies bytes and adds up in
// one instruction: those of arch/avx512, and products in integers.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "imbrex/kernels/arch/avx512/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(                                                               \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12: its own intrinsics
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")
#endif

namespace imbrex::kernels::arch::avx512_vnni::inline IMBREX_ABI {

using namespace avx512;  // the vocabulary

#include "imbrex/kernels/arch/avx512_vnni/simd.inl"
#include "imbrex/kernels/tiles/panel_int8.inl"
#include "imbrex/kernels/tiles/round_row.inl"
#include "imbrex/kernels/tiles/sum_bytes.inl"
#include "imbrex/kernels/tiles/multiply_int8.inl"
#include "imbrex/kernels/tiles/kernels_int8.inl"
#include "imbrex/kernels/tiles/multiply_vectors.inl"
#include "imbrex/kernels/tiles/rounded_product.inl"
#include "imbrex/kernels/tiles/rounded_product_k.inl"

inline constexpr Kernels kernels = with_int8(with_rounded(avx512::kernels, rounded_kernels), int8_kernels);

}  // namespace imbrex::kernels::arch::avx512_vnni::inline IMBREX_ABI

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif  // __x86_64__
