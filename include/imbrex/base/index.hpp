// The index type, and products and sums of indices that cannot wrap unnoticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Sizes, positions and strides: signed, 64 bits on every platform.
using index_t = std::int64_t;

/// "Known at run time only", in place of a size.
inline constexpr index_t dyn = -1;

/// Writes a * b to `product` and returns true; false, and `product` untouched, where it overflows
/// or an operand is negative. (Written without __int128 and builtins: it is constexpr everywhere.)
constexpr bool multiply_fits(index_t a, index_t b, index_t& product) {
  if (a < 0 || b < 0) return false;
  if (b != 0 && a > (std::numeric_limits<index_t>::max)() / b) return false;
  product = a * b;
  return true;
}

/// Writes a + b to `sum` and returns true; false, and `sum` untouched, where it overflows or an
/// operand is negative.
constexpr bool add_fits(index_t a, index_t b, index_t& sum) {
  if (a < 0 || b < 0) return false;
  if (a > (std::numeric_limits<index_t>::max)() - b) return false;
  sum = a + b;
  return true;
}

/// ceil(a / b) for a >= 0, b > 0.
constexpr index_t ceil_div(index_t a, index_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The smaller and the larger of two indices (functions of our own: `min` may be a macro).
constexpr index_t lesser(index_t a, index_t b) { return a < b ? a : b; }
constexpr index_t greater(index_t a, index_t b) { return a < b ? b : a; }

}  // namespace imbrex::inline IMBREX_ABI
