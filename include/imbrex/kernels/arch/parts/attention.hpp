// What a set offers for attention: packed keys, products, and weights of scores.
#pragma once

#include <cstddef>

#include "imbrex/base/index.hpp"
#include "imbrex/kernels/mask.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

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

/// out[i] = factor sums[i] + 0 for i < n; out may be sums. (+ 0: a sum's zero may have either sign,
/// by what was beside it.)
using FinishValues = void (*)(float* out, const float* sums, index_t n, float factor);

/// The parts of attention.
struct Attention {
  index_t rows;                   ///< that `multiply` takes at most,
  index_t keys;                   ///< keys of a panel, two vectors
  PackKeys pack[3];               ///< keys stored as f32, f16, bf16
  MultiplyAttention multiply[3];  ///< likewise, by what is stored in `panel`
  WeighKeys weigh;
  MergeValues merge;
  FinishValues finish;
};

/// Bounds of those numbers over all sets, for buffers.
inline constexpr index_t attention_most_rows = 14, attention_most_panel = 32;

}  // namespace imbrex::kernels::inline IMBREX_ABI
