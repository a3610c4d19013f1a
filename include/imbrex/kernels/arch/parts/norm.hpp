// What a set offers for norms: statistics of a row, and the row scaled by them.
#pragma once

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// y[i] = (x[i] - centre) factor (offset + weight[i]) + bias[i] for i < n; y may be x, and `bias`
/// may be null.
struct NormedRow {
  float* y;
  const float *x, *weight, *bias;
  index_t n;
  float centre, factor, offset;
};

/// The statistics are sums in double: squares of floats neither overflow nor lose digits there.
struct Norm {
  double (*sum)(const float* x, index_t n);
  double (*squares)(const float* x, index_t n, double centre);  ///< the sum of (x[i] - centre)^2
  void (*apply)(const NormedRow& row);
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
