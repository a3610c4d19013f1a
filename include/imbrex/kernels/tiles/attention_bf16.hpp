// Rows of queries that share a key head against keys, in tiles of bf16: S^T = K Q^T, the softmax of
// its columns, O^T = V^T P^T. Both are the product of gemm_bf16.hpp, whose left operand is packed
// once for all rows of an item: keys as they lie, values transposed.
//
// Numbers, by numbers n of a head and of a value, up to whole tiles, the larger one:
//
//     keys of a tile    32768 / n, at most 256: with their values 128 kB in bf16
//     rows of an item   65536 / n, at most 512: 128 kB of queries in bf16, 256 kB of results
//     rows of a block   32, two tiles: 32 kB of scores, 16 kB of weights
//
// A second-level cache of 2 MB (Sapphire Rapids) holds all that, and the first level, 48 kB, the
// scores or the weights that a vector's loops run through. Packing 32 keys and values costs some
// 80 cycles for 16 numbers, products of them with 512 rows 1024. It all lies on the stack, some 580
// kB; nothing is allocated.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "imbrex/kernels/arch/parts/attention_bf16.hpp"
#include "imbrex/kernels/arch/parts/gemm_bf16.hpp"
#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/tiles/attention.hpp"
#include "imbrex/kernels/tiles/gemm.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// The largest rows of an item, keys of a tile, and numbers of a head or a value; with longer ones
/// attention is in f32.
inline constexpr index_t attention_bf16_rows = 512, attention_bf16_keys = 256,
                         attention_bf16_numbers = 1024;

/// Numbers of an item's packed queries, and of a tile's keys, or values, at most.
inline constexpr index_t attention_bf16_packed = 65536, attention_bf16_tile = 32768;

/// Sizes for heads of d numbers and values of n. They say where tiles of keys lie, so that a row
/// meets the same ones in any company.
struct Bf16Sizes {
  index_t head, value, rows, keys;

  constexpr Bf16Sizes(index_t d, index_t n)
      : head(whole(d)),
        value(whole(n)),
        rows(lesser(attention_bf16_rows, part(attention_bf16_packed))),
        keys(lesser(attention_bf16_keys, part(attention_bf16_tile))) {}

 private:
  static constexpr index_t whole(index_t n) { return ceil_div(n, tile_pair) * tile_pair; }
  constexpr index_t part(index_t numbers) const {
    return numbers / greater(greater(head, value), 1) / tile_pair * tile_pair;
  }
};

/// Buffers of a work item.
struct Bf16AttentionWork {
  alignas(64) bf16 queries[attention_bf16_packed];  // pairs of tiles of rows, as PackTiles has them
  alignas(64) float sums[attention_bf16_packed];    // O^T: for each pair [numbers / 32][4] tiles
  alignas(64) bf16 keys[attention_bf16_tile];       // [key][head]
  alignas(64) bf16 values[attention_bf16_tile];     // [number][keys of a tile]
  alignas(64) float scores[attention_bf16_keys * tile_pair];  // S^T: [keys / 32][4] tiles
  alignas(64) bf16 weights[attention_bf16_keys * tile_pair];  // P^T, as PackTiles has them
  alignas(64) float peak[attention_bf16_rows], total[attention_bf16_rows];
  KeyRange visible[attention_bf16_rows];
};

/// Rows [first, first + count) of a key head, query after query with all the heads that share it,
/// against all the keys they see. At most Bf16Sizes::rows.
class AttentionInTiles {
 public:
  AttentionInTiles(const Bf16Gemm& gemm, const Bf16Attention& kernel, const AttentionArgs& a,
                   index_t kv_head, index_t first, index_t count)
      : gemm_(gemm),
        kernel_(kernel),
        a_(a),
        sizes_(a.q.head_dim, a.out.head_dim),
        kv_head_(kv_head),
        first_(first),
        count_(count) {}

  void attend() {
    start();
    gemm_.configure();
    const KeyRange seen = seen_by_any(work_.visible, count_, {0, a_.key_count});
    for (index_t key = seen.first / sizes_.keys * sizes_.keys; key < seen.last;
         key += sizes_.keys) {
      attend_tile({key, lesser(key + sizes_.keys, a_.key_count)});
    }
    gemm_.release();
    for (index_t r = 0; r < count_; r += tile_rows) finish(r);
  }

 private:
  RowOfHeads row(index_t r) const { return row_of_heads(a_, kv_head_, first_ + r); }
  index_t rows_from(index_t r, index_t most) const { return lesser(most, count_ - r); }

  /// Of the block of rows from r on: its packed queries, and its sums.
  bf16* queries(index_t r) { return work_.queries + r * sizes_.head; }
  float* sums(index_t r) { return work_.sums + r * sizes_.value; }

  void start() {
    const index_t whole = ceil_div(count_, tile_pair) * tile_pair;
    std::fill_n(work_.sums, whole * sizes_.value, 0.0f);
    std::fill_n(work_.total, whole, 0.0f);
    std::fill_n(work_.peak, whole, -std::numeric_limits<float>::infinity());
    for (index_t r = 0; r < whole; ++r) {  // lanes without a row see what the last row sees
      work_.visible[r] = a_.mask.visible(row(lesser(r, count_ - 1)).query, a_.q.rows, a_.key_count);
    }
    for (index_t r = 0; r < count_; r += tile_rows) pack_queries(r);
  }

  /// 16 rows, side by side first: a row of one head need not follow that of another.
  void pack_queries(index_t r) {
    const index_t rows = rows_from(r, tile_rows);
    bf16* to = queries(r / tile_pair * tile_pair) + r / tile_rows % 2 * tile_numbers;
    float side_by_side[tile_rows * 4 * tile_inputs];
    constexpr index_t most = 4 * tile_inputs;
    for (index_t k = 0; k < a_.q.head_dim; k += most, to += 4 * 2 * tile_numbers) {
      const index_t n = lesser(most, a_.q.head_dim - k);
      for (index_t i = 0; i < rows; ++i) {
        const RowOfHeads at = row(r + i);
        std::copy_n(a_.q.at(at.query, at.head) + k, n, side_by_side + i * most);
      }
      gemm_.pack({side_by_side, most, rows, n, to});
    }
  }

  /// Takes a tile of keys into all the rows.
  void attend_tile(KeyRange tile) {
    const KeyRange needed = panels_of(seen_by_any(work_.visible, count_, tile), tile);
    if (empty(needed)) return;
    pack(tile, needed);
    for (index_t r = 0; r < count_; r += tile_pair) {
      const KeyRange seen =
          panels_of(seen_by_any(work_.visible + r, rows_from(r, tile_pair), tile), tile);
      if (!empty(seen)) attend_block(r, tile.first, seen);
    }
  }

  /// The keys of whole panels around `keys`, as far as the tile has them.
  static KeyRange panels_of(KeyRange keys, KeyRange tile) {
    if (empty(keys)) return {0, 0};
    return {keys.first / tile_pair * tile_pair,
            lesser(ceil_div(keys.last, tile_pair) * tile_pair, tile.last)};
  }

  StoredRows stored(const StoredFloats& from, index_t key_stride, index_t head_stride,
                    KeyRange keys, index_t numbers) const {
    return {from.at(keys.first * key_stride + kv_head_ * head_stride),
            key_stride * traits(from.dtype()).bytes,
            keys.last - keys.first,
            numbers,
            nullptr,
            0};
  }

  /// Keys and values of a tile, as operands. The last panel's rows that are no keys are zeros.
  void pack(KeyRange tile, KeyRange needed) {
    const index_t at = needed.first - tile.first, count = needed.last - needed.first;
    StoredRows keys = stored(a_.keys, a_.k_key_stride, a_.k_head_stride, needed, a_.q.head_dim);
    keys.to = work_.keys + at * sizes_.head, keys.to_stride = sizes_.head;
    kernel_.keys[static_cast<int>(a_.keys.dtype())](keys);
    const index_t missing = ceil_div(count, tile_pair) * tile_pair - count;
    std::fill_n(keys.to + count * sizes_.head, missing * sizes_.head, bf16{});
    StoredRows values =
        stored(a_.values, a_.v_key_stride, a_.v_head_stride, needed, a_.out.head_dim);
    values.to = work_.values + at, values.to_stride = sizes_.keys;
    all_values_ = kernel_.values[static_cast<int>(a_.values.dtype())](values);
  }

  /// Rows [r, r + 32), as many as there are, and panels of keys of the tile that begins at `tile`.
  void attend_block(index_t r, index_t tile, KeyRange keys) {
    const index_t at = keys.first - tile, panels = ceil_div(keys.last - keys.first, tile_pair);
    const index_t tiles = ceil_div(rows_from(r, tile_pair), tile_rows);
    for (index_t p = 0; p < panels; ++p) {
      multiply(work_.scores + p * 4 * tile_floats, work_.keys + (at + p * tile_pair) * sizes_.head,
               sizes_.head, queries(r), tiles, sizes_.head, false);
    }
    for (index_t i = 0; i < tiles; ++i) weigh(r, i, keys, panels);
    for (index_t e = 0; e < sizes_.value; e += tile_pair) {
      multiply(sums(r) + e * tile_pair, work_.values + e * sizes_.keys + at, sizes_.keys,
               work_.weights, tiles, panels * tile_pair, true);
    }
    if (!all_values_) add_other_values(r, keys);
  }

  /// 32 rows of w times a block's rows of x.
  void multiply(float* sums, const bf16* w, index_t stride, const bf16* x, index_t tiles,
                index_t inputs, bool more) const {
    const index_t row_bytes = stride * index_t{sizeof(bf16)};
    gemm_.multiply({sums, reinterpret_cast<const std::byte*>(w), row_bytes, x, 0, tiles, inputs,
                    more, NextPanel{}, NextRows{}});
  }

  /// Weights of the i-th tile of the block's rows; what was summed for them before is fitted to a
  /// new peak.
  void weigh(index_t r, index_t i, KeyRange keys, index_t panels) {
    const index_t row = r + i * tile_rows, count = panels * tile_pair;
    std::int32_t first[tile_rows], last[tile_rows];
    KeyRange common{0, count};
    for (index_t j = 0; j < tile_rows; ++j) {
      const KeyRange seen = overlap(work_.visible[row + j], keys);
      const KeyRange here =
          empty(seen) ? KeyRange{0, 0} : KeyRange{seen.first - keys.first, seen.last - keys.first};
      first[j] = static_cast<std::int32_t>(here.first);
      last[j] = static_cast<std::int32_t>(here.last);
      common = overlap(common, here);
    }
    alignas(64) float factors[tile_rows];
    kernel_.weigh({work_.scores + i * tile_floats, work_.weights + i * tile_numbers, panels, first,
                   last, common, a_.scale, a_.soft_cap, work_.peak + row, work_.total + row,
                   factors});
    if (std::all_of(factors, factors + tile_rows, [](float f) { return f == 1; })) return;
    kernel_.rescale(sums(r) + i * tile_floats, sizes_.value / tile_pair * 4, factors);
  }

  /// Adds what tiles had zeros for: values that are infinite, or none, or become so as bf16. Of
  /// rows that see them, as a weight of 0 would not keep an infinity from the others.
  void add_other_values(index_t r, KeyRange keys) {
    for (index_t key = keys.first; key < keys.last; ++key) {
      const StoredFloats values =
          a_.values.from(key * a_.v_key_stride + kv_head_ * a_.v_head_stride);
      for (index_t e = 0; e < a_.out.head_dim; ++e) {
        const float value = values[e];
        if (std::abs(value) < bfloat_end) continue;
        for (index_t i = 0; i < rows_from(r, tile_pair); ++i) {
          const KeyRange seen = work_.visible[r + i];
          if (key < seen.first || key >= seen.last) continue;
          sum_of(r, i, e) += weight_of(key - keys.first, i) * value;
        }
      }
    }
  }

  /// Of the block's row i, its sum of values' number e, and its weight of a key.
  float& sum_of(index_t r, index_t i, index_t e) {
    const index_t tile = e / tile_pair * 4 + e / tile_rows % 2 * 2 + i / tile_rows;
    return sums(r)[tile * tile_floats + e % tile_rows * tile_rows + i % tile_rows];
  }
  float weight_of(index_t key, index_t i) const {
    const index_t tile = key / tile_pair * 2 + i / tile_rows;
    return to_float(work_.weights[tile * tile_numbers + key % tile_pair / 2 * tile_pair +
                                  i % tile_rows * 2 + key % 2]);
  }

  /// Results of up to 16 rows from r on: their tiles are transposed, 16 numbers at a time.
  void finish(index_t r) {
    const index_t rows = rows_from(r, tile_rows);
    float factors[tile_rows];
    for (index_t i = 0; i < rows; ++i) {
      const RowOfHeads at = row(r + i);
      factors[i] = finish_total(a_, at.query, at.head, work_.peak[r + i], work_.total[r + i]);
    }
    const float zeros[tile_rows] = {};
    for (index_t e = 0; e < a_.out.head_dim; e += tile_rows) {
      float numbers[tile_floats];
      const index_t block = r / tile_pair * tile_pair;
      gemm_.add({numbers, tile_rows, zeros, 0, &sum_of(block, r - block, e)});
      for (index_t i = 0; i < rows; ++i) {
        const RowOfHeads at = row(r + i);
        kernel_.finish(a_.out.at(at.query, at.head) + e, numbers + i * tile_rows,
                       lesser(tile_rows, a_.out.head_dim - e), factors[i]);
      }
    }
  }

  const Bf16Gemm& gemm_;
  const Bf16Attention& kernel_;
  const AttentionArgs& a_;
  Bf16Sizes sizes_;
  index_t kv_head_, first_, count_;
  bool all_values_ = true;  // of the tile of keys, as TransposeValues says
  Bf16AttentionWork work_;
};

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
