// The functions of <cmath> that the reference kernels need, usable in constant expressions too: a
// worked example can then be a static_assert. At run time they are the C library's.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "imbrex/base/version.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// e^x, to about 1e-15 relative.
constexpr double exp(double x) {
  if (!std::is_constant_evaluated()) return std::exp(x);
  constexpr double ln2 = 0.693147180559945309417;
  if (x != x) return x;
  if (x > 709.8) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const int n = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double r = x - n * ln2;  // |r| < 0.35: 18 terms leave out less than 1e-24
  double result = 1;
  for (int k = 18; k > 0; --k) result = 1 + result * r / k;
  for (int k = 0; k < n; ++k) result *= 2;
  for (int k = 0; k > n; --k) result /= 2;
  return result;
}

/// The natural logarithm of x > 0; -inf of 0. x = 2^n m, log m = 2 artanh((m - 1) / (m + 1)).
constexpr double log(double x) {
  if (!std::is_constant_evaluated()) return std::log(x);
  if (x == 0) return -std::numeric_limits<double>::infinity();
  int n = 0;
  for (; x > 1.5; ++n) x /= 2;
  for (; x < 0.75; --n) x *= 2;
  const double z = (x - 1) / (x + 1);  // |z| <= 0.2: 15 terms leave out less than 1e-22
  double sum = 0;
  for (int k = 29; k > 0; k -= 2) sum = sum * z * z + 1.0 / k;
  return 2 * z * sum + n * 0.693147180559945309417;
}

/// The root of x >= 0 by Newton's iteration, which falls until it stands.
constexpr double sqrt(double x) {
  if (!std::is_constant_evaluated()) return std::sqrt(x);
  if (x == 0) return 0;
  double root = x > 1 ? x : 1;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;
  return root;
}

/// The hyperbolic tangent, in constant expressions too.
constexpr double tanh(double x) {
  if (!std::is_constant_evaluated()) return std::tanh(x);
  const double e = exp(x < 0 ? 2 * x : -2 * x);
  return x < 0 ? (e - 1) / (e + 1) : (1 - e) / (1 + e);
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
