// How attention is cut into work items: rows of queries where there are many, tiles of keys where
// there are few, as when a token is added to a sequence.
#pragma once

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/tiles/attention.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Rows [first, first + count) of a key head against all the keys they see.
inline void attend_rows(const Attention& kernel, const AttentionArgs& a, index_t kv_head,
                        index_t first, index_t count) {
  AttentionRows rows;
  start_rows(rows, a, kv_head, first, count,
             [&](index_t query, index_t head, index_t) { return a.out.at(query, head); });
  const KeyRange seen = seen_by_any(rows.visible, count, {0, a.key_count});
  const index_t tile = attention_tile(a.q.head_dim);
  attend(kernel, a, rows, {seen.first / tile * tile, seen.last});
  for (index_t i = 0; i < count; ++i) {
    const auto [query, head] = row_of_heads(a, kv_head, first + i);
    finish_row(kernel, a, query, head, rows.out[i], rows.peak[i], rows.total[i]);
  }
}

/// Work items there should be at least, so that two to eight threads share them evenly.
inline constexpr index_t attention_items = 16;

/// Into how many tiles the rows of a key head are cut: as few as have `most` rows or fewer; more
/// where there are few key heads, so that threads find attention_items to share, but of `least`
/// rows or more. An even number, as tiles are dealt in pairs, and of pairs too where it is small.
inline index_t row_tiles(index_t kv_heads, index_t rows, index_t most, index_t least) {
  const index_t wanted =
      greater(ceil_div(rows, most), lesser(ceil_div(attention_items, kv_heads), rows / least));
  const index_t unit = wanted * kv_heads < 4 * attention_items ? 4 : 2;
  return wanted == 1 ? 1 : ceil_div(wanted, unit) * unit;
}

/// Deals the rows of all key heads to threads, in `tiles` tiles of `step` rows for each: calls
/// attend(kv_head, first row, rows). An item takes a tile of rows and its mirror image: a causal
/// mask then costs all items alike.
template <class Attend>
void deal_rows(index_t kv_heads, index_t rows, index_t tiles, index_t step, const Attend& attend) {
  const auto attend_tile = [&](index_t kv_head, index_t tile) {
    const index_t first = tile * step;
    if (first < rows) attend(kv_head, first, lesser(step, rows - first));
  };
  const index_t pairs = ceil_div(tiles, 2);
  parallel_for(kv_heads * pairs, [&](index_t item) {
    const index_t kv_head = item / pairs, early = item % pairs, late = tiles - 1 - early;
    attend_tile(kv_head, early);
    if (late != early) attend_tile(kv_head, late);
  });
}

/// Floats that the results of tiles take at most, on the caller's stack. 64 kB: for 8 key heads
/// of 128, 14 tiles of 256 keys, 29 MB of keys and values, before the threads meet.
inline constexpr index_t attention_parts = 16384;

/// Whether the rows of a key head are a single block: tiles of keys are then the items.
inline bool splits_keys(const Attention& kernel, const AttentionArgs& a) {
  const index_t rows = a.q.rows * (a.q.heads / a.kv_heads);
  return rows <= kernel.rows && 2 * rows * (a.out.head_dim + 2) <= attention_parts;
}

/// Few rows of queries, with tiles of keys as the items. What a tile gives, from nothing, is a
/// part: for each row its sums of values, its peak and its total. Parts are merged in the order of
/// the keys, with the arithmetic of AttentionTile: the bits are those of attend_rows.
class AttentionSplit {
 public:
  AttentionSplit(const Attention& kernel, const AttentionArgs& a)
      : kernel_(kernel),
        a_(a),
        rows_(a.q.rows * (a.q.heads / a.kv_heads)),
        row_(a.out.head_dim + 2),
        tile_(attention_tile(a.q.head_dim)),
        heads_(lesser(a.kv_heads, attention_parts / (2 * rows_ * row_))),
        tiles_(attention_parts / (heads_ * rows_ * row_) - 1) {}

  void attend() {
    KeyRange seen{a_.key_count, 0};
    for (index_t i = 0; i < a_.q.rows; ++i) {
      const KeyRange keys = a_.mask.visible(i, a_.q.rows, a_.key_count);
      if (!empty(keys)) seen = {lesser(seen.first, keys.first), greater(seen.last, keys.last)};
    }
    const index_t last = ceil_div(seen.last, tile_);
    for (index_t head = 0; head < a_.kv_heads; head += heads_) {
      const index_t heads = lesser(heads_, a_.kv_heads - head);
      for (index_t h = 0; h < heads; ++h) start(head + h, part(h, 0));
      for (index_t t = seen.first / tile_; t < last; t += tiles_) {
        round(head, heads, t, lesser(tiles_, last - t));
      }
      for (index_t h = 0; h < heads; ++h) finish(head + h, part(h, 0));
    }
  }

 private:
  /// Of a head: 0 is what was merged, 1 and on are the tiles of a round.
  float* part(index_t head, index_t i) { return parts_ + (head * (tiles_ + 1) + i) * rows_ * row_; }

  void start(index_t kv_head, float* part) {
    AttentionRows rows;
    start_rows(rows, a_, kv_head, 0, rows_,
               [&](index_t, index_t, index_t i) { return part + i * row_; });
    keep(rows);
  }

  /// A part's peaks and totals.
  void keep(const AttentionRows& rows) const {
    for (index_t i = 0; i < rows_; ++i) {
      rows.out[i][row_ - 2] = rows.peak[i];
      rows.out[i][row_ - 1] = rows.total[i];
    }
  }

  void round(index_t head, index_t heads, index_t tile, index_t tiles) {
    parallel_for(heads * tiles, [&](index_t item) {
      const index_t h = item / tiles, t = item % tiles, first = (tile + t) * tile_;
      AttentionRows rows;
      float* to = part(h, 1 + t);
      start_rows(rows, a_, head + h, 0, rows_,
                 [&](index_t, index_t, index_t i) { return to + i * row_; });
      tiles::attend(kernel_, a_, rows, {first, lesser(first + tile_, a_.key_count)});
      keep(rows);
    });
    for (index_t h = 0; h < heads; ++h) {
      for (index_t t = 0; t < tiles; ++t) merge(part(h, 0), part(h, 1 + t));
    }
  }

  void merge(float* to, const float* from) const {
    for (index_t i = 0; i < rows_; ++i, to += row_, from += row_) {
      float *peak = to + row_ - 2, *total = to + row_ - 1;
      const MergeWeights w = merge_totals(*peak, *total, from[row_ - 2], from[row_ - 1]);
      kernel_.merge(to, from, a_.out.head_dim, w.old, w.added);
    }
  }

  void finish(index_t kv_head, const float* part) const {
    for (index_t i = 0; i < rows_; ++i, part += row_) {
      const auto [query, head] = row_of_heads(a_, kv_head, i);
      finish_row(kernel_, a_, query, head, part, part[row_ - 2], part[row_ - 1]);
    }
  }

  const Attention& kernel_;
  const AttentionArgs& a_;
  index_t rows_, row_, tile_, heads_, tiles_;
  alignas(64) float parts_[attention_parts];
};

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
