// What a set offers for operations that take each number of a row by itself.
#pragma once

#include "imbrex/base/activation.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y[i] = f(x[i]), and y[i] = f(a[i], b[i]), for i < n; y may be an operand. An element's bits do
/// not depend on where in the row it stands.
using MapRow = void (*)(float* y, const float* x, index_t n);
using MapRows = void (*)(float* y, const float* a, const float* b, index_t n);

/// The same with a number for all.
using MapRowBy = void (*)(float* y, const float* x, index_t n, float by);

/// The functions of an Activation, by its value.
inline constexpr int activation_count = static_cast<int>(Activation::relu) + 1;
struct Elementwise {
  MapRow activate[activation_count];
  MapRows gate[activation_count];  ///< f(a) b
  MapRows add;
  MapRowBy scale, soft_cap;  ///< by x, and by tanh(x / by)
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
