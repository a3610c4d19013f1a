// What a set offers for many rows: panels of weights, and their products, in words of 32 bits that
// are a float, or a pair of numbers in bf16 that belong to inputs 2 i and 2 i + 1. Words of either
// kind lie in memory as floats.
#pragma once

#include <cstddef>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Words of a row that a panel of gemm has at most: in floats, a block of the largest formats. Of
/// 32 outputs (AVX-512) it is 32 kB and stays, with 14 rows of x, in a first-level cache of 48 kB;
/// of 16 (AVX2) it is 16 kB, and with 6 rows of x fits one of 32 kB.
inline constexpr index_t gemm_words = 256;

/// Decodes a panel, words panel[k][o] for o < Gemm::outputs, from as many stored rows, row_bytes
/// apart. `inputs` is a whole number of the format's blocks and of 8.
using LoadPanel = void (*)(const std::byte* w, index_t row_bytes, index_t inputs, float* panel);

/// Rows of x to be copied side by side, as words: from `x`, `stride` apart, to `to`, gemm_words
/// apart. Behind the last word of a row, zeros may be written up to a whole vector, and a number
/// that has no other one beside it in a word gets a zero.
struct CopiedRows {
  const float* x;
  index_t stride, rows, inputs;
  float* to;
};
using CopyRows = void (*)(const CopiedRows& rows);

/// What the micro-kernel of gemm does: y[r][o] = start[r][o] + sum over k < words of the product of
/// x[r][k] and panel[k][o], for r < rows and o < Gemm::outputs. `start` may be y.
struct PanelProduct {
  float* y;
  index_t y_stride;  ///< floats from row to row
  const float* start;
  index_t start_stride;
  const float* x;  ///< rows gemm_words apart
  const float* panel;
  index_t rows, words;
  /// Beside it, as many rows of as many words are copied for a product to come: from `next`,
  /// next_stride apart, to next_x, gemm_words apart. Null: none; else `words` is a multiple of
  /// Gemm::outputs.
  const float* next;
  index_t next_stride;
  float* next_x;
};

/// A row's bits do not depend on the other rows.
using MultiplyPanel = void (*)(const PanelProduct& product);

/// The parts of gemm in words of one kind.
struct Gemm {
  index_t rows;     ///< of x that `multiply` takes at most,
  index_t outputs;  ///< the outputs of a panel,
  index_t numbers;  ///< and the numbers in a word: 1, or 2
  CopyRows copy;
  MultiplyPanel multiply;
  LoadPanel load[dtype_count];  ///< by Dtype; null where a format has no such words
};

/// Bounds of those numbers over all sets, for buffers.
inline constexpr index_t gemm_most_rows = 14, gemm_most_panel = 32;

}  // namespace imbrex::kernels::inline IMBREX_ABI
