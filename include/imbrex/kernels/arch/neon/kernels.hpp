// The kernels in AdvSIMD ("Neon"), which 64-bit ARM has in its baseline: nothing has to be asked of
// the compiler. Nothing is included from the standard library inside the region.
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstdint>

#include "imbrex/kernels/arch/kernels.hpp"

namespace imbrex::kernels::arch::neon::inline IMBREX_ABI {

#include "imbrex/kernels/arch/neon/simd.inl"
#include "imbrex/kernels/arch/neon/bytes.inl"
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
#include "imbrex/kernels/tiles/multiply_vectors.inl"
#include "imbrex/kernels/tiles/rounded_product.inl"
#include "imbrex/kernels/tiles/rounded_product_k.inl"
inline constexpr Int8Gemm int8_kernels = {};  // neon_dotprod has them
#include "imbrex/kernels/tiles/kernels.inl"

}  // namespace imbrex::kernels::arch::neon::inline IMBREX_ABI

#endif  // __aarch64__
