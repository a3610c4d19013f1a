// What a set offers for attention in tiles of bf16, beside the products of gemm_bf16.hpp: stored
// keys and values as their left operands, and the weights of scores that come out of them.
//
// Scores are S^T = K Q^T and results O^T = V^T P^T: keys, then numbers of a value, down the rows of
// tiles, and queries across them. So the largest score of a query, the sum of its weights and all
// its factors are lanes of vectors, and nothing is added up across lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/kernels/arch/parts/attention.hpp"
#include "imbrex/kernels/arch/parts/gemm_bf16.hpp"
#include "imbrex/kernels/mask.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Numbers of this magnitude and more round to infinity: half way from the largest in bf16.
inline constexpr float bfloat_end = 0x1.FFp127f;

/// Stored rows, of keys or of values, and where they go as bf16: rounded to nearest, halves to
/// even, subnormal numbers to zeros. `to` has rows to_stride numbers apart.
struct StoredRows {
  const std::byte* from;
  index_t stride;         ///< bytes from row to row
  index_t rows, numbers;  ///< at least one of each
  bf16* to;
  index_t to_stride;
};

/// Keys as they lie: number e of row r to to[r to_stride + e], and zeros up to a whole number of
/// tile_inputs.
using RoundKeys = void (*)(const StoredRows& keys);

/// Values transposed: number e of row r to to[e to_stride + r], with zeros in rows up to a whole
/// number of tile_pair, and up to a whole number of tile_inputs in each. Zeros too for numbers that
/// are infinite or none, or become so as bf16: returns whether there are none of these.
using TransposeValues = bool (*)(const StoredRows& values);

/// Products q.k of 16 rows (lanes of tiles) with the keys of some panels of 32, to be turned into
/// weights. Keys are numbered from the first of these panels on.
struct TileScores {
  float* scores;   ///< [panel][2][.][16 keys][16 rows]: every second tile
  bf16* weights;   ///< [panel][.][16 pairs of keys][16 rows][2]: likewise; as PackTiles has them
  index_t panels;  ///< at least one
  const std::int32_t *first, *last;  ///< row r sees the keys [first[r], last[r])
  KeyRange common;                   ///< keys that all rows see
  float scale, soft_cap;
  float *peaks, *totals;  ///< [16], of the keys before; then of these as well
  float* factors;         ///< [16] e^(peak before - now): 1 if it stays and is finite, 0 of -inf
};

/// s = scale q.k, then cap tanh(s / cap); peak = the largest s so far; weights = e^(s - peak) in
/// bf16, 0 for keys that the row does not see; total = factor total + the sum of the weights, as
/// they were before they were rounded.
using WeighTiles = void (*)(const TileScores& scores);

/// Every second one of `tiles` tiles, from `sums` on: row e, column r is multiplied by factors[r].
using RescaleTiles = void (*)(float* sums, index_t tiles, const float* factors);

/// The parts of attention in bf16; all null where a set has none.
struct Bf16Attention {
  RoundKeys keys[3];          ///< stored as f32, f16, bf16
  TransposeValues values[3];  ///< likewise
  WeighTiles weigh;
  RescaleTiles rescale;
  FinishValues finish;
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
