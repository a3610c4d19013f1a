// The kernels for processors with AMX, which multiplies tiles of 16 x 32 numbers in bf16: those of
// arch/avx512_vnni, and products and attention in tiles.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

#include "imbrex/kernels/arch/avx512_bf16/kernels.hpp"

#if defined(__clang__)
#pragma clang attribute push(                                                         \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16," \
                          "amx-tile,amx-bf16,avx2,fma,f16c"))),                       \
    apply_to = function)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12: its own intrinsics
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16")
#pragma GCC target("amx-tile,amx-bf16,avx2,fma,f16c")
#endif

namespace imbrex::kernels::arch::amx::inline IMBREX_ABI {

using namespace avx512_bf16;  // the vocabulary

#include "imbrex/kernels/arch/amx/simd.inl"
#include "imbrex/kernels/arch/amx/tiles.inl"
#include "imbrex/kernels/tiles/row_bf16.inl"
#include "imbrex/kernels/tiles/gemm_bf16.inl"
#include "imbrex/kernels/tiles/attention_bf16.inl"

inline constexpr Kernels kernels =
    with_bf16(avx512_vnni::kernels, "amx", bf16_gemm, bf16_attention);

}  // namespace imbrex::kernels::arch::amx::inline IMBREX_ABI

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#endif  // __x86_64__
