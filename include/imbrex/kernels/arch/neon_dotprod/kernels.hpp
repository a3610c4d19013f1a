// The kernels in AdvSIMD for processors that also have the dot product extension (an option of
// ARMv8.2, in all from ARMv8.4 on), which multiplies bytes and adds up in one instruction: those of
// arch/neon, and products in integers.
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstdint>

#include "imbrex/kernels/arch/neon/kernels.hpp"

// To g++ the extension is one of ARMv8.2, and asking for that takes back what else a program is
// compiled for: g++ inlines no function of arch/neon then, so that the region has the vocabulary
// once more. Where the program is compiled for the extension nothing is asked.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC push_options
#if !defined(__ARM_FEATURE_DOTPROD)
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
#endif

namespace imbrex::kernels::arch::neon_dotprod::inline IMBREX_ABI {

#include "imbrex/kernels/arch/neon/simd.inl"
#include "imbrex/kernels/arch/neon_dotprod/bytes.inl"
#include "imbrex/kernels/tiles/stored_dot.inl"
#include "imbrex/kernels/tiles/round_activations.inl"
#include "imbrex/kernels/tiles/float_word.inl"
#include "imbrex/kernels/tiles/multiply_panel.inl"
#include "imbrex/kernels/tiles/panel.inl"
#include "imbrex/kernels/tiles/panel_k.inl"
#include "imbrex/kernels/tiles/panel_int8.inl"
#include "imbrex/kernels/tiles/round_row_of_blocks.inl"
#include "imbrex/kernels/tiles/sum_bytes.inl"
#include "imbrex/kernels/tiles/multiply_int8.inl"
#include "imbrex/kernels/tiles/kernels_int8.inl"
#include "imbrex/kernels/tiles/multiply_vectors.inl"
#include "imbrex/kernels/tiles/rounded_product.inl"
#include "imbrex/kernels/tiles/rounded_product_k.inl"

inline constexpr Kernels kernels = with_int8(with_rounded(neon::kernels, rounded_kernels), int8_kernels);

}  // namespace imbrex::kernels::arch::neon_dotprod::inline IMBREX_ABI

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __aarch64__
