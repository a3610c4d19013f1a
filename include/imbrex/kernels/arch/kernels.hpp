// What an instruction set offers: one table of functions for each set.
#pragma once

#include <cstddef>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels {

/// The sum over i < n of w[i] x[i], w stored in some format, n a whole number of its blocks.
using Dot = float (*)(const std::byte* w, const float* x, index_t n);

/// The functions of one instruction set; constant-initialised.
struct Kernels {
  const char* name;      ///< the set's, as IMBREX_ISA spells it
  Dot dot[dtype_count];  ///< by Dtype; null where rows are decoded to f32 first
};

}  // namespace imbrex::kernels
