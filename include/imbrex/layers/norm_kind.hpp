// The choices there are about norms.
#pragma once

#include <cstdint>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// y = x / sqrt(mean(x^2) + eps) * w (Zhang, Sennrich 2019), or
/// y = (x - mean(x)) / sqrt(var(x) + eps) * w + b (Ba, Kiros, Hinton 2016).
enum class NormKind : std::uint8_t { rms_norm, layer_norm };

/// Where a block's norms sit: x + f(norm(x)), x + norm(f(x)), or x + norm(f(norm(x))).
enum class NormPlacement : std::uint8_t { pre, post, both };

/// Norm of queries and keys before RoPE: none, over each head (w[HeadDim]), or over all heads of a
/// token at once (w[Heads * HeadDim] and w[KvHeads * HeadDim]).
enum class QkNorm : std::uint8_t { none, per_head, full };

}  // namespace imbrex::inline IMBREX_ABI
