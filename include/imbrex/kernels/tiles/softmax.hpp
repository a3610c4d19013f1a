// The pieces of a softmax: the largest number, and exponentials with their sum.
#pragma once

#include <limits>

#include "imbrex/kernels/tiles/exp.hpp"

namespace imbrex::kernels::tiles {

/// The largest of n numbers, NaN passed over; -inf where there is none.
inline float largest(const float* x, index_t n) {
  Lanes best = broadcast(-std::numeric_limits<float>::infinity());
  index_t i = 0;
  for (; i + lane_count <= n; i += lane_count) {
    const Lanes v = load(x + i);
    best = v > best ? v : best;
  }
  float result = best[0];
  for (int k = 1; k < lane_count; ++k) result = best[k] > result ? best[k] : result;
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

/// y = e^(x - peak), and the sum of y (in double: a vocabulary is long); y may be x. With a peak of
/// -inf every number was -inf or NaN: the first become 0, the others stay.
inline double exponentials(float* y, const float* x, index_t n, float peak) {
  double total = 0;
  if (peak == -std::numeric_limits<float>::infinity()) {
    for (index_t i = 0; i < n; ++i) total += y[i] = x[i] == x[i] ? 0.0f : x[i];
    return total;
  }
  index_t i = 0;
  for (; i + lane_count <= n; i += lane_count) {
    const Lanes e = exp(load(x + i) - peak);
    store(y + i, e);
    total += static_cast<double>(sum(e));
  }
  if (i < n) {
    store_part(y + i, exp(load_part(x + i, n - i) - peak), n - i);
    for (; i < n; ++i) total += static_cast<double>(y[i]);
  }
  return total;
}

inline void softmax(float* y, const float* x, index_t n) {
  const double total = exponentials(y, x, n, largest(x, n));
  if (total == 0) return;  // nothing but -inf: zeros already
  const float factor = static_cast<float>(1.0 / total);
  map(n, y, y, [factor](Lanes v) { return v * factor; });
}

}  // namespace imbrex::kernels::tiles
