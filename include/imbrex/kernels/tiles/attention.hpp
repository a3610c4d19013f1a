// One tile of queries against all the keys they see.
#pragma once

#include <cmath>
#include <limits>

#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/tiles/dot.hpp"
#include "imbrex/kernels/tiles/softmax.hpp"

namespace imbrex::kernels::tiles {

/// Rows (a query and a head) that share a key tile while it is in cache: with 32 of them, a float
/// loaded from memory takes part in 32 multiplications.
inline constexpr index_t attention_rows = 32;

/// Keys of a tile, at most. At d = 128 their keys and values are 64 kB and stay in the second-level
/// cache while the rows of the tile pass; fewer would only rescale `out` more often.
inline constexpr index_t attention_keys = 64;

/// Queries [query, query + queries) with heads [head, head + heads), which share kv_head.
struct QueryTile {
  index_t query, queries, head, heads, kv_head;
};

/// How Tq queries of H heads are cut into tiles of at most attention_rows rows, by shape alone.
struct QueryTiling {
  index_t queries, group, heads_per_tile, tiles_per_group, queries_per_tile;
  index_t query_tiles, head_tiles;

  QueryTiling(index_t query_count, index_t heads, index_t kv_heads)
      : queries(query_count),
        group(heads / kv_heads),
        heads_per_tile(lesser(group, attention_rows)),
        tiles_per_group(ceil_div(group, heads_per_tile)),
        queries_per_tile(attention_rows / heads_per_tile),
        query_tiles(ceil_div(queries, queries_per_tile)),
        head_tiles(kv_heads * tiles_per_group) {}

  QueryTile tile(index_t head_tile, index_t query_tile) const {
    const index_t kv_head = head_tile / tiles_per_group;
    const index_t within = head_tile % tiles_per_group * heads_per_tile;
    const index_t query = query_tile * queries_per_tile;
    return {query, lesser(queries_per_tile, queries - query), kv_head * group + within,
            lesser(heads_per_tile, group - within), kv_head};
  }
};

/// What the online softmax remembers of a row: `total` = sum over the keys seen so far of
/// e^(s - peak), where `peak` is their largest score; `out` is the sum of their values with the
/// same weights.
struct RowState {
  float peak, total;
};

/// Scaled, capped scores of one query against `count` keys.
inline void scores(float* s, const AttentionArgs& a, const float* q, const float* keys,
                   index_t count) {
  const index_t d = a.q.head_dim, stride = a.k_key_stride;
  index_t j = 0;
  for (; j + 8 <= count; j += 8) dots<8>(s + j, q, keys + j * stride, stride, d);
  for (; j + 4 <= count; j += 4) dots<4>(s + j, q, keys + j * stride, stride, d);
  for (; j < count; ++j) dots<1>(s + j, q, keys + j * stride, stride, d);
  const float scale = a.scale, cap = a.soft_cap;
  map(count, s, s, [scale](Lanes v) { return v * scale; });
  if (cap != 0) map(count, s, s, [cap](Lanes v) { return cap * tanh(v / cap); });
}

/// Takes `count` <= attention_keys more keys into a row.
inline void attend_row(const AttentionArgs& a, RowState& row, float* out, const float* q,
                       const float* keys, const float* values, index_t count) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float s[attention_keys];
  scores(s, a, q, keys, count);
  const float tile_peak = largest(s, count);
  if (tile_peak > row.peak) {
    // What was summed before is worth less now; nothing was, if the old peak is -inf.
    const float correction = row.peak == -infinity ? 0.0f : std::exp(row.peak - tile_peak);
    row.total *= correction;
    map(a.out.head_dim, out, out, [correction](Lanes v) { return v * correction; });
    row.peak = tile_peak;
  }
  row.total += static_cast<float>(exponentials(s, s, count, row.peak));
  add_weighted(out, s, values, a.v_key_stride, count, a.out.head_dim);
}

inline void finish_row(const AttentionArgs& a, const RowState& row, float* out, float* lse) {
  if (lse != nullptr) {
    *lse =
        row.total == 0 ? -std::numeric_limits<float>::infinity() : row.peak + std::log(row.total);
  }
  if (row.total == 0) return;  // no key, or scores of -inf alone: zeros already
  const float factor = 1.0f / row.total;
  map(a.out.head_dim, out, out, [factor](Lanes v) { return v * factor; });
}

/// The key range a tile of queries needs: from the first key of its first query that sees any to
/// the last key of its last one (neither end of a mask's range decreases from query to query).
inline KeyRange visible_to_any(const AttentionArgs& a, const QueryTile& t) {
  KeyRange all{0, 0};
  for (index_t i = t.query; i < t.query + t.queries; ++i) {
    const KeyRange range = a.mask.visible(i, a.q.rows, a.key_count);
    if (range.first == range.last) continue;
    if (all.first == all.last) all.first = range.first;
    all.last = range.last;
  }
  return all;
}

/// Calls visit(query, row of the tile, head) for every row.
template <class Visit>
inline void for_each_tile_row(const QueryTile& t, Visit visit) {
  for (index_t i = 0; i < t.queries; ++i) {
    for (index_t h = 0; h < t.heads; ++h) visit(t.query + i, i * t.heads + h, t.head + h);
  }
}

inline void attend(const AttentionArgs& a, const QueryTile& t) {
  RowState rows[attention_rows];
  for_each_tile_row(t, [&](index_t query, index_t row, index_t head) {
    rows[row] = {-std::numeric_limits<float>::infinity(), 0};
    float* out = a.out.at(query, head);
    for (index_t e = 0; e < a.out.head_dim; ++e) out[e] = 0;
  });
  const float* keys = a.keys + t.kv_head * a.k_head_stride;
  const float* values = a.values + t.kv_head * a.v_head_stride;
  const KeyRange needed = visible_to_any(a, t);
  // Key tiles lie on multiples of attention_keys, so that a row meets the same ones in any company.
  index_t tile_first = needed.first / attention_keys * attention_keys;
  for (; tile_first < needed.last; tile_first += attention_keys) {
    for_each_tile_row(t, [&](index_t query, index_t row, index_t head) {
      const KeyRange range = a.mask.visible(query, a.q.rows, a.key_count);
      const index_t first = greater(range.first, tile_first);
      const index_t last = lesser(range.last, tile_first + attention_keys);
      if (first >= last) return;
      attend_row(a, rows[row], a.out.at(query, head), a.q.at(query, head),
                 keys + first * a.k_key_stride, values + first * a.v_key_stride, last - first);
    });
  }
  for_each_tile_row(t, [&](index_t query, index_t row, index_t head) {
    float* lse = a.log_sum_exp == nullptr ? nullptr : a.log_sum_exp + query * a.q.heads + head;
    finish_row(a, rows[row], a.out.at(query, head), lse);
  });
}

}  // namespace imbrex::kernels::tiles
