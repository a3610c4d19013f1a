// What an instruction set offers: one table of functions for each set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/kernels/mask.hpp"

namespace imbrex::kernels {

/// The sum over i < n of w[i] x[i], w stored in some format, n a whole number of its blocks.
using Dot = float (*)(const std::byte* w, const float* x, index_t n);

/// The same for `rows` rows of x, x_stride floats apart, at most Kernels::dot_rows: the bits of
/// Dot.
using Dots = void (*)(const std::byte* w, const float* x, index_t x_stride, index_t rows, index_t n,
                      float* out);
inline constexpr index_t most_dot_rows = 4;  ///< of all sets

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

/// Rounds a row of n numbers and writes it as a set's products with a format want it, in
/// arranged_bytes(n).
using Arrange = void (*)(const float* x, index_t n, std::byte* to);

/// Numbers that are arranged at a time, at most: four blocks of 256; and the bytes they take, with
/// scales and sums of 16 numbers.
inline constexpr index_t arranged_numbers = 1024, arranged_step = 1536;
constexpr index_t arranged_bytes(index_t n) {
  return ceil_div(n, arranged_numbers) * arranged_step;
}

/// y[t][o] += sum over k < n of x[t][k] w[o][k], for o < outputs and t < rows; x rounded.
struct RoundedProduct {
  float* y;
  index_t y_stride;  ///< floats from row to row
  const std::byte* w;
  index_t row_bytes, outputs;
  const std::byte* x;  ///< arranged; rows x_bytes apart, a multiple of 64, as is the address
  index_t x_bytes, rows, n;
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

/// Inputs of a run of gemm in integers at most, two blocks of the largest formats. A panel of it,
/// for 32 outputs, is 22 kB (28 kB where 16 numbers share a scale), and with the 4 kB of six rows
/// of x stays in a first-level cache of 48 kB, or 32.
inline constexpr index_t int8_inputs = 512;

/// A run of a row of x rounded to int8, with what belongs to its groups: the 32, or 16, inputs that
/// share a scale in the weights' format.
struct Int8Row {
  alignas(64) std::int8_t q[int8_inputs];
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

/// Floats from row to row in the buffers of attention: 256 keys of a tile, or numbers of a head,
/// and a vector or two on either side. No multiple of 512 bytes: some rows of it share no cache
/// set.
inline constexpr index_t attention_stride = 288;

/// Packs as many keys as a panel has, panel[k][key] for k < depth, from rows `stride` bytes apart.
/// `depth` is a multiple of the numbers in 16 bytes.
struct PackedKeys {
  const std::byte* keys;
  index_t stride, depth;
  float* panel;
  const std::byte* values;  ///< of the same keys: fetched into cache
  index_t values_stride;
};
using PackKeys = void (*)(const PackedKeys& keys);

/// sums[r][c] = sum over k < count of x[r][k] panel[k][c], by rising k, for r < rows and c in the
/// first `vectors` vectors; added to what is in sums if `more`. Rows of sums and of x are
/// attention_stride floats apart, those of panel panel_stride bytes.
struct AttentionProduct {
  float* sums;
  const float* x;
  const std::byte* panel;
  index_t panel_stride, rows, count, vectors;
  bool more;
};
using MultiplyAttention = void (*)(const AttentionProduct& product);

/// Products q.k of some rows with the keys of a tile, to be scaled, capped and turned into weights
/// e^(s - peak), where peak is the row's largest score. Row r sees the columns visible[r]; the
/// other columns of [first, last) get the weight 0.
struct AttentionScores {
  float* scores;  ///< rows attention_stride apart
  const KeyRange* visible;
  index_t rows, first, last;
  float scale, soft_cap;
  float *peaks, *totals;  ///< of each row: the largest score, and the sum of the weights
};
using WeighKeys = void (*)(const AttentionScores& scores);

/// out[i] = old_weight out[i] + weight sums[i] for i < n.
using MergeValues = void (*)(float* out, const float* sums, index_t n, float old_weight,
                             float weight);

/// The parts of attention.
struct Attention {
  index_t rows;                   ///< that `multiply` takes at most,
  index_t keys;                   ///< keys of a panel, two vectors
  PackKeys pack[3];               ///< keys stored as f32, f16, bf16
  MultiplyAttention multiply[3];  ///< likewise, by what is stored in `panel`
  WeighKeys weigh;
  MergeValues merge;
};

/// Bounds of those numbers over all sets, for buffers.
inline constexpr index_t attention_most_rows = 14, attention_most_panel = 32;

/// The functions of one instruction set; constant-initialised.
struct Kernels {
  const char* name;      ///< the set's, as IMBREX_ISA spells it
  Dot dot[dtype_count];  ///< by Dtype; null where rows are decoded to f32 first
  index_t dot_rows;
  Dots dots[dtype_count];  ///< by Dtype; null where rows are taken one by one
  Gemm gemm;
  Attention attention;
  RoundActivations round_activations;
  RoundedKernels rounded;
  Int8Gemm int8;
};

/// The same kernels with other products of rounded activations.
constexpr Kernels with_rounded(Kernels kernels, const RoundedKernels& rounded) {
  kernels.rounded = rounded;
  return kernels;
}

}  // namespace imbrex::kernels
