// Activation functions on four floats.
#pragma once

#include <cmath>

#include "imbrex/base/activation.hpp"
#include "imbrex/kernels/tiles/exp.hpp"

namespace imbrex::kernels::tiles {

/// x s, where s is a sigmoid that has reached 0 long before x = -128: there it is -128 s, so that
/// -inf gives its limit 0 and not -inf * 0.
inline Lanes weigh(Lanes x, Lanes s) { return (x < -128.0f ? broadcast(-128.0f) : x) * s; }

inline Lanes silu(Lanes x) { return weigh(x, sigmoid(x)); }

/// (x/2) (1 + tanh u) = x sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3): the second form does
/// not cancel for negative x.
inline Lanes gelu_tanh(Lanes x) {
  return weigh(x, sigmoid(1.595769122f * (x + 0.044715f * x * x * x)));
}

/// x Phi(x) = (x/2) erfc(-x/sqrt 2), which does not cancel either; by the C library, a number at a
/// time.
inline Lanes gelu(Lanes x) {
  Lanes s{};
  for (int k = 0; k < lane_count; ++k) s[k] = 0.5f * std::erfc(x[k] * -0.707106781f);
  return weigh(x, s);
}

inline Lanes relu(Lanes x) { return x < 0.0f ? Lanes{} : x; }

/// Calls use(function) for the function that `f` names, so that the choice is made once and not per
/// number. (Not reached by a value that names none: layers and configurations refuse it.)
template <class Use>
inline void with_activation(Activation f, Use use) {
  switch (f) {
    case Activation::silu:
      return use([](Lanes x) { return silu(x); });
    case Activation::gelu:
      return use([](Lanes x) { return gelu(x); });
    case Activation::gelu_tanh:
      return use([](Lanes x) { return gelu_tanh(x); });
    case Activation::relu:
      return use([](Lanes x) { return relu(x); });
  }
}

}  // namespace imbrex::kernels::tiles
