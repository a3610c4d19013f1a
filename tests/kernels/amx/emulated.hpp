// The loops of `amx` over emulated tiles: with the vectors of AVX-512, as it compiles them, where
// the machine has those, and with the portable ones everywhere. And products of pairs with the
// latter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "imbrex/base/isa.hpp"
#include "imbrex/kernels/arch/parts/attention_bf16.hpp"
#include "imbrex/kernels/arch/parts/gemm_bf16.hpp"
#include "imbrex/kernels/arch/sets.hpp"

namespace imbrex::kernels::arch::emulated {

using namespace scalar;  // the vocabulary

#include "tests/kernels/amx/emulated_tiles.inl"
#include "tests/kernels/amx/scalar_simd.inl"
#include "imbrex/kernels/tiles/row_bf16.inl"
#include "imbrex/kernels/tiles/gemm_bf16.inl"
#include "imbrex/kernels/tiles/attention_bf16.inl"

#include "tests/kernels/amx/emulated_pairs.inl"
#include "imbrex/kernels/tiles/multiply_panel.inl"
#include "imbrex/kernels/tiles/gemm_pairs.inl"

}  // namespace imbrex::kernels::arch::emulated

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,"     \
                                                   "avx512vnni,avx512bf16,avx2,fma,f16c"))), \
                             apply_to = function)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma,f16c")
#endif

namespace imbrex::kernels::arch::emulated_avx512 {

using namespace avx512_bf16;  // the vocabulary

#include "tests/kernels/amx/emulated_tiles.inl"
#include "imbrex/kernels/arch/amx/simd.inl"
#include "imbrex/kernels/tiles/row_bf16.inl"
#include "imbrex/kernels/tiles/gemm_bf16.inl"
#include "imbrex/kernels/tiles/attention_bf16.inl"

}  // namespace imbrex::kernels::arch::emulated_avx512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif
#endif

namespace imbrex::tests {

/// Whether the machine runs AVX-512 as `amx` has it.
inline bool has_bfloat_vectors() {
#if defined(__x86_64__)
  return available(Isa::avx512) && __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

}  // namespace imbrex::tests
