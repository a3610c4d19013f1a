// What a set offers for many rows: panels of weights as floats, and their products.
#pragma once

#include <cstddef>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Inputs that a panel of gemm has at most: a block of the largest formats. Of 32 outputs (AVX-512)
/// it is 32 kB and stays, with 14 rows of x, in a first-level cache of 48 kB; of 16 (AVX2) it is
/// 16 kB, and with 6 rows of x fits one of 32 kB.
inline constexpr index_t gemm_inputs = 256;

/// Decodes a panel, panel[k][o] for k < inputs and o < Gemm::outputs, from as many stored rows,
/// row_bytes apart. `inputs` is a whole number of the format's blocks and of 8.
using LoadPanel = void (*)(const std::byte* w, index_t row_bytes, index_t inputs, float* panel);

/// What the micro-kernel of gemm does: y[r][o] = start[r][o] + sum over k < inputs of
/// x[r][k] panel[k][o], for r < rows and o < Gemm::outputs. `start` may be y.
struct PanelProduct {
  float* y;
  index_t y_stride;  ///< floats from row to row
  const float* start;
  index_t start_stride;
  const float* x;  ///< rows gemm_inputs apart
  const float* panel;
  index_t rows, inputs;
  /// Beside it, as many rows are copied for a product to come: from `next`, next_stride apart, to
  /// next_x, gemm_inputs apart. Null: none; else `inputs` is a multiple of Gemm::outputs.
  const float* next;
  index_t next_stride;
  float* next_x;
};

/// A row's bits do not depend on the other rows.
using MultiplyPanel = void (*)(const PanelProduct& product);

/// The parts of gemm.
struct Gemm {
  index_t rows;     ///< of x that `multiply` takes at most,
  index_t outputs;  ///< and the outputs of a panel
  MultiplyPanel multiply;
  LoadPanel load[dtype_count];  ///< by Dtype
};

/// Bounds of those numbers over all sets, for buffers.
inline constexpr index_t gemm_most_rows = 14, gemm_most_panel = 32;

}  // namespace imbrex::kernels::inline IMBREX_ABI
