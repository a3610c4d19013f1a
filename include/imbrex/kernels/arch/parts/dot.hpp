// What a set offers for a product of a row: the dot products of stored rows with rows of floats.
#pragma once

#include <cstddef>

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// The sum over i < n of w[i] x[i], w stored in some format, n a whole number of its blocks.
using Dot = float (*)(const std::byte* w, const float* x, index_t n);

/// The same for `rows` rows of x, x_stride floats apart, at most Kernels::dot_rows: the bits of
/// Dot.
using Dots = void (*)(const std::byte* w, const float* x, index_t x_stride, index_t rows, index_t n,
                      float* out);
inline constexpr index_t most_dot_rows = 4;  ///< of all sets

}  // namespace imbrex::kernels::inline IMBREX_ABI
