// What a set offers for many rows in integers: panels of bytes, and their products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Inputs of a run of gemm in integers at most, two blocks of the largest formats. A panel of it,
/// for 32 outputs, is 22 kB (28 kB where 16 numbers share a scale), and with the 4 kB of six rows
/// of x stays in a first-level cache of 48 kB, or 32.
inline constexpr index_t int8_inputs = 512;

/// A run of a row of x rounded to int8, with what belongs to its groups: the 32, or 16, inputs that
/// share a scale in the weights' format.
struct Int8Row {
  alignas(64) std::int8_t q[int8_inputs];  ///< first
  float d[int8_inputs / 32];
  std::int32_t group[int8_inputs / 16];  ///< a word of each group, as the micro-kernel wants it
};

/// Rounds x[0 .. inputs), whole blocks of 32.
using RoundRow = void (*)(const float* x, index_t inputs, Int8Row& row);

/// Decodes a panel of bytes from Int8Gemm::outputs stored rows, row_bytes apart; `inputs` is a
/// whole number of the format's blocks.
using LoadInt8Panel = void (*)(const std::byte* w, index_t row_bytes, index_t inputs,
                               std::byte* panel);

/// y[r][o] = start[r][o] + sum over k < inputs of the product of rounded x[r][k] and the panel's
/// weights, for r < rows and o < Int8Gemm::outputs. `start` may be y.
struct Int8Product {
  float* y;
  index_t y_stride;
  const float* start;
  index_t start_stride;
  const Int8Row* x;
  const std::byte* panel;
  index_t rows, inputs;
};

/// A row's bits do not depend on the other rows.
using MultiplyInt8 = void (*)(const Int8Product& product);

/// The parts of gemm in integers for a format; null where there is none.
struct Int8Format {
  RoundRow round;
  LoadInt8Panel load;
  MultiplyInt8 multiply;
};

struct Int8Gemm {
  index_t rows;                     ///< of x that `multiply` takes at most,
  index_t outputs;                  ///< and the outputs of a panel
  Int8Format formats[dtype_count];  ///< by Dtype
};

/// Bounds of those numbers over all sets, and of a panel's bytes.
inline constexpr index_t int8_most_rows = 6, int8_most_outputs = 32;
inline constexpr index_t int8_panel_bytes = int8_most_outputs * int8_inputs / 16 * (16 + 12);

}  // namespace imbrex::kernels::inline IMBREX_ABI
