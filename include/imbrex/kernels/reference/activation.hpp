// The non-linear functions of feed-forward layers, in double. All but the exact GELU work in
// constant expressions.
#pragma once

#include "imbrex/base/activation.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/reference/math.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// One number. At -inf all four have the limit 0, which the formulas would make -inf * 0.
constexpr double activation(double x, Activation f) {
  if (x == -std::numeric_limits<double>::infinity()) return 0;
  switch (f) {
    case Activation::silu:
      return x / (1 + exp(-x));
    case Activation::gelu:
      return x / 2 * std::erfc(-x / 1.41421356237309504880);
    case Activation::gelu_tanh: {
      const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);  // sqrt(2/pi) (...)
      return x / (1 + exp(-2 * u));  // = x/2 (1 + tanh u), without its cancellation
    }
    case Activation::relu:
      return x < 0 ? 0 : x;
  }
  return x;
}

/// y = f(x).
constexpr void activate(Rows y, ConstRows x, Activation f) {
  for (index_t i = 0; i < x.rows; ++i) {
    for (index_t j = 0; j < x.cols; ++j) {
      y.row(i)[j] = static_cast<float>(activation(static_cast<double>(x.row(i)[j]), f));
    }
  }
}

/// y = f(gated) * up.
constexpr void gate(Rows y, ConstRows gated, ConstRows up, Activation f) {
  for (index_t i = 0; i < gated.rows; ++i) {
    for (index_t j = 0; j < gated.cols; ++j) {
      const double g = activation(static_cast<double>(gated.row(i)[j]), f);
      y.row(i)[j] = static_cast<float>(g * static_cast<double>(up.row(i)[j]));
    }
  }
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
