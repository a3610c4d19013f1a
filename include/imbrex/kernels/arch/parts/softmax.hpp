// What a set offers for softmax: the largest number, exponentials with their sum, and a product.
#pragma once

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// The parts of a softmax of n numbers.
struct Softmax {
  /// The largest; a NaN is passed over, and where there is no number it is -inf.
  float (*largest)(const float* x, index_t n);

  /// y[i] = e^(x[i] - peak), and the sum of y in double, as a vocabulary is long; y may be x. A
  /// peak of -inf, that of nothing but -inf and NaN, counts as 0: the first become 0, the others
  /// stay.
  double (*exponentials)(float* y, const float* x, index_t n, float peak);
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
