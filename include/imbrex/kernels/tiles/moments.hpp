// Sums over a row in double, for the statistics of norms: squares of floats neither overflow nor
// lose digits there.
#pragma once

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::tiles {

/// Sum of term(i) for i < n, in four interleaved parts.
template <class Term>
inline double sum_terms(index_t n, Term term) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  index_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += term(i);
    s1 += term(i + 1);
    s2 += term(i + 2);
    s3 += term(i + 3);
  }
  for (; i < n; ++i) s0 += term(i);
  return (s0 + s1) + (s2 + s3);
}

inline double sum(const float* x, index_t n) {
  return sum_terms(n, [x](index_t i) { return static_cast<double>(x[i]); });
}

/// Sum of (x - centre)^2.
inline double sum_of_squares(const float* x, index_t n, double centre) {
  return sum_terms(n, [x, centre](index_t i) {
    const double distance = static_cast<double>(x[i]) - centre;
    return distance * distance;
  });
}

}  // namespace imbrex::kernels::tiles
