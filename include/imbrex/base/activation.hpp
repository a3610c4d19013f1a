// The activation functions of feed-forward layers.
#pragma once

#include <cstdint>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// silu(x) = x / (1 + e^-x); gelu(x) = x Phi(x), Phi the normal distribution; gelu_tanh its tanh
/// approximation (Hendrycks, Gimpel 2016); relu(x) = x for x > 0, else 0.
enum class Activation : std::uint8_t { silu, gelu, gelu_tanh, relu };

}  // namespace imbrex::inline IMBREX_ABI
