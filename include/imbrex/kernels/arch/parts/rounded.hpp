// What a set offers for few rows in integers: activations rounded to int8, and their products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Numbers of x that share a scale when they are rounded to int8.
inline constexpr index_t rounded_block = 32;

/// A row of n activations rounded to int8, n a whole number of rounded_block: x[i] is about
/// d[i / 32] q[i]. See `reference::round_activations` for the rule.
struct RoundedRow {
  std::int8_t* q;     ///< n numbers, -127 to 127
  float* d;           ///< n / 32 scales: not negative, or NaN
  std::int32_t* sum;  ///< n / 32 sums of a block's q
};

/// Rounds a row; the same bits on every set.
using RoundActivations = void (*)(const float* x, index_t n, const RoundedRow& to);

/// Rows of n numbers, x_stride floats apart, and where they go: arranged_bytes(n) for each row, at
/// a multiple of 64.
struct Arranged {
  const float* x;
  index_t x_stride, rows, n;
  std::byte* to;
};

/// Rounds rows and writes them as a set's products with a format want them.
using Arrange = void (*)(const Arranged& rows);

/// Numbers that are arranged at a time, at most: four blocks of 256; and the bytes they take, with
/// scales and sums of 16 numbers.
constexpr index_t arranged_bytes(index_t n) { return ceil_div(n, 1024) * 1536; }

/// Rows that are multiplied at a time, at most; and the outputs that take turns with a step of
/// them.
inline constexpr index_t rounded_most_rows = 16, rounded_group = 8;

/// y[t][o] += sum over k < n of x[t][k] w[o][k], for o < outputs and t < rows; x rounded.
struct RoundedProduct {
  float* y;
  index_t y_stride;  ///< floats from row to row
  const std::byte* w;
  index_t row_bytes, outputs;
  const std::byte* x;  ///< arranged
  index_t rows;        ///< at most rounded_most_rows
  index_t n;
};

/// A row's bits do not depend on the other rows.
using MultiplyRounded = void (*)(const RoundedProduct& product);

/// Products with activations rounded to int8; null for formats that are multiplied as floats.
struct Rounded {
  Arrange arrange;
  MultiplyRounded multiply;
};
struct RoundedKernels {
  Rounded by_dtype[dtype_count];
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
