// What a set offers for many rows in bf16: rows of weights in bf16, packed rows of x, and the
// products of their tiles.
#pragma once

#include <cstddef>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels {

/// Decodes `count` numbers of a stored row, whole blocks, and rounds them to bf16: to nearest,
/// halves to even, subnormal numbers to zeros.
using BfloatRow = void (*)(const std::byte* w, index_t count, bf16* to);

}  // namespace imbrex::kernels
