// The kernels in the baseline instruction set.
#pragma once

#include <cstdint>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/f16.hpp"
#include "imbrex/kernels/arch/kernels.hpp"

namespace imbrex::kernels::arch::scalar::inline IMBREX_ABI {

#include "imbrex/kernels/arch/scalar/simd.inl"
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
inline constexpr Int8Gemm int8_kernels = {};
#include "imbrex/kernels/tiles/kernels.inl"

}  // namespace imbrex::kernels::arch::scalar::inline IMBREX_ABI
