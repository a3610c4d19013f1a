// Rows of queries that share a key head against a tile of keys, by the inner loops of the
// instruction set.
//
// A tile's keys are packed into panels, transposed, once for all the rows. Then a block of rows at
// a time, as many as the set's registers hold: products with the panels, their softmax, the values
// weighed, and the sums merged into the rows' results. Everything lies on the stack.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "imbrex/kernels/arch/parts/attention.hpp"
#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/quant/decode.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Rows (a query and a head) that share packed keys: packing a number costs as much as some four
/// multiply-adds of a vector, so 126 rows make it 3 % of the products. Whole blocks of 14 or of 6,
/// and of 10 but for 6.
inline constexpr index_t attention_rows = 126;

/// Keys of a tile at most, and floats of its panels: 128 kB, which with as many values stay in the
/// second-level cache while the blocks of rows pass.
inline constexpr index_t attention_keys = 256;
inline constexpr index_t attention_panels = 32768;

/// Numbers of a head multiplied at a time; longer heads take several turns, each packing again.
inline constexpr index_t attention_depth = 256;

/// Columns before the first key of a tile: a panel at its end may begin before the tile.
inline constexpr index_t attention_margin = attention_most_panel;
static_assert(attention_margin + attention_keys <= attention_stride);

/// Keys of a tile for heads of d numbers: as many as their panels have room for. Tiles lie on
/// multiples of it, so that a row meets the same ones in any company.
constexpr index_t attention_tile(index_t d) {
  const index_t fit = attention_panels / greater(d, 1) / attention_most_panel;
  return lesser(attention_keys, greater(fit, 1) * attention_most_panel);
}

/// Buffers of a work item.
struct AttentionWork {
  alignas(64) float panels[attention_panels];
  alignas(64) float queries[attention_most_rows * attention_stride];
  alignas(64) float scores[attention_most_rows * attention_stride];
  alignas(64) float sums[attention_most_rows * attention_stride];
  alignas(64) float tail[attention_keys * 16];  // a vector of each value
};

/// Rows that share a key head, and what the online softmax remembers of each: `total` = sum over
/// the keys seen so far of e^(s - peak), where `peak` is their largest score; `out` is the sum of
/// their values with the same weights.
struct AttentionRows {
  index_t count, kv_head;
  const float* q[attention_rows];
  float* out[attention_rows];
  KeyRange visible[attention_rows];
  float peak[attention_rows], total[attention_rows];
};

/// A row of a key head, which has query after query, each with all the heads that share it.
struct RowOfHeads {
  index_t query, head;
};
inline RowOfHeads row_of_heads(const AttentionArgs& a, index_t kv_head, index_t row) {
  const index_t group = a.q.heads / a.kv_heads;
  return {row / group, kv_head * group + row % group};
}

/// Of the rows of a key head those from `first` on. `out` of row i is out(i).
template <class Out>
void start_rows(AttentionRows& rows, const AttentionArgs& a, index_t kv_head, index_t first,
                index_t count, Out out) {
  rows.count = count;
  rows.kv_head = kv_head;
  for (index_t i = 0; i < count; ++i) {
    const auto [query, head] = row_of_heads(a, kv_head, first + i);
    rows.q[i] = a.q.at(query, head);
    rows.out[i] = out(query, head, i);
    rows.visible[i] = a.mask.visible(query, a.q.rows, a.key_count);
    rows.peak[i] = -std::numeric_limits<float>::infinity();
    rows.total[i] = 0;
    for (index_t e = 0; e < a.out.head_dim; ++e) rows.out[i][e] = 0;
  }
}

constexpr bool empty(KeyRange r) { return r.first >= r.last; }

constexpr KeyRange overlap(KeyRange a, KeyRange b) {
  return {greater(a.first, b.first), lesser(a.last, b.last)};
}

/// From the first to the last key of `tile` that any of `count` rows sees.
inline KeyRange seen_by_any(const KeyRange* visible, index_t count, KeyRange tile) {
  KeyRange all{0, 0};
  for (index_t i = 0; i < count; ++i) {
    const KeyRange seen = overlap(visible[i], tile);
    if (empty(seen)) continue;
    all = empty(all) ? seen : KeyRange{lesser(all.first, seen.first), greater(all.last, seen.last)};
  }
  return all;
}

/// What sums of values are multiplied with when two are added that belong to different peaks.
struct MergeWeights {
  float old, added;
};

/// Adds the total of some keys with the largest score `added_peak` to a row's.
inline MergeWeights merge_totals(float& peak, float& total, float added_peak, float added) {
  const float larger = added_peak > peak ? added_peak : peak;
  const auto factor = [larger](float p) {  // nothing was summed if the peak is -inf
    return p == -std::numeric_limits<float>::infinity() ? 0.0f : std::exp(p - larger);
  };
  const MergeWeights w{factor(peak), factor(added_peak)};
  peak = larger;
  total = total * w.old + added * w.added;
  return w;
}

/// A tile of keys, and a block of rows that it is multiplied with.
class AttentionTile {
 public:
  /// `keys`: those of the tile.
  AttentionTile(const Attention& kernel, const AttentionArgs& a, AttentionRows& rows,
                AttentionWork& work, KeyRange keys)
      : kernel_(kernel),
        a_(a),
        rows_(rows),
        work_(work),
        tile_(keys),
        needed_(seen_by_any(rows.visible, rows.count, keys)),
        k_dtype_(static_cast<int>(a.keys.dtype())),
        v_dtype_(static_cast<int>(a.values.dtype())) {}

  /// Takes the tile's keys into all the rows.
  void attend() {
    if (empty(needed_)) return;
    const index_t blocks = ceil_div(rows_.count, kernel_.rows);
    const index_t step = ceil_div(rows_.count, blocks);
    packs_again_ = a_.q.head_dim > attention_depth;
    keeps_panels_ = blocks > 1 && !packs_again_;
    for (row_ = 0; row_ < rows_.count; row_ += step) {
      count_ = lesser(step, rows_.count - row_);
      const KeyRange keys = seen_by_any(rows_.visible + row_, count_, tile_);
      multiply_keys(keys);
      if (!empty(keys)) attend_block(keys);
    }
  }

 private:
  /// The column of a key in the scores.
  index_t column(index_t key) const { return key - tile_.first + attention_margin; }

  KeyRange columns(KeyRange keys) const { return {column(keys.first), column(keys.last)}; }

  /// Products of the block's rows with the panels that have any of `keys`. The first block packs
  /// them all. The last panel ends with the last key and may overlap the one before: the same
  /// products come out twice.
  void multiply_keys(KeyRange keys) {
    const index_t most = kernel_.keys, d = a_.q.head_dim;
    float* panel = work_.panels;
    if (d == 0) {  // products of nothing
      for (index_t r = 0; r < count_; ++r) {
        std::fill_n(work_.scores + r * attention_stride, attention_stride, 0.0f);
      }
      return;
    }
    if (!packs_again_) copy_queries(0, d);
    for (index_t key = needed_.first; key < needed_.last; key += most) {
      const index_t from = lesser(key, greater(needed_.last - most, 0));
      const bool used = from < keys.last && from + most > keys.first;
      const bool packed = keeps_panels_ && row_ > 0;
      for (index_t k = 0; k < d && (used || !packed); k += attention_depth) {
        const index_t depth = lesser(attention_depth, d - k);
        if (!packed) pack(from, k, depth, panel);
        if (!used) continue;
        if (packs_again_) copy_queries(k, depth);
        kernel_.multiply[0]({work_.scores + column(from), work_.queries,
                             reinterpret_cast<const std::byte*>(panel),
                             most * index_t{sizeof(float)}, count_, depth, 2, k > 0});
      }
      if (keeps_panels_) panel += most * d;
    }
  }

  void copy_queries(index_t k, index_t depth) {
    for (index_t r = 0; r < count_; ++r) {
      std::memcpy(work_.queries + r * attention_stride, rows_.q[row_ + r] + k,
                  static_cast<std::size_t>(depth) * sizeof(float));
    }
  }

  /// Numbers [k, k + depth) of a panel's keys, from key `from` on. Where there are fewer keys, or
  /// for the last numbers of heads that are not whole vectors, number by number.
  void pack(index_t from, index_t k, index_t depth, float* panel) {
    const index_t bytes = traits(a_.keys.dtype()).bytes, vector = 16 / bytes;
    const StoredFloats keys =
        a_.keys.from(from * a_.k_key_stride + rows_.kv_head * a_.k_head_stride);
    const index_t count = lesser(kernel_.keys, a_.key_count - from);
    const index_t whole = count == kernel_.keys ? depth / vector * vector : 0;
    if (whole > 0) {
      const index_t v_bytes = traits(a_.values.dtype()).bytes;
      const std::byte* values =
          a_.values.at(from * a_.v_key_stride + rows_.kv_head * a_.v_head_stride + k);
      kernel_.pack[k_dtype_](
          {keys.at(k), a_.k_key_stride * bytes, whole, panel, values, a_.v_key_stride * v_bytes});
    }
    for (index_t i = whole; i < depth; ++i) {
      for (index_t j = 0; j < kernel_.keys; ++j) {
        panel[i * kernel_.keys + j] = j < count ? keys[j * a_.k_key_stride + k + i] : 0.0f;
      }
    }
  }

  /// Softmax of the block's scores, and the values.
  void attend_block(KeyRange keys) {
    KeyRange visible[attention_most_rows];
    float peak[attention_most_rows], total[attention_most_rows];
    KeyRange common = keys;
    for (index_t r = 0; r < count_; ++r) {
      const KeyRange seen = overlap(rows_.visible[row_ + r], tile_);
      visible[r] = columns(empty(seen) ? KeyRange{keys.first, keys.first} : seen);
      common = overlap(common, seen);
    }
    kernel_.weigh({work_.scores, visible, count_, column(keys.first), column(keys.last), a_.scale,
                   a_.soft_cap, peak, total});
    float old_weight[attention_most_rows], weight[attention_most_rows];
    for (index_t r = 0; r < count_; ++r) {
      const MergeWeights w =
          merge_totals(rows_.peak[row_ + r], rows_.total[row_ + r], peak[r], total[r]);
      old_weight[r] = w.old;
      weight[r] = w.added;
    }
    const bool together = finite(keys.first, empty(common) ? keys.last : common.first) &&
                          finite(empty(common) ? keys.last : common.last, keys.last);
    if (together) return weigh_values(0, count_, keys, old_weight, weight);
    for (index_t r = 0; r < count_; ++r) {
      const KeyRange seen = overlap(rows_.visible[row_ + r], tile_);
      weigh_values(r, 1, empty(seen) ? KeyRange{keys.first, keys.first} : seen, old_weight, weight);
    }
  }

  /// Whether the values [first, last) are finite. Rows that do not see all of them may then be
  /// multiplied with them, by weights of 0: an infinity or a NaN would come through. Found out just
  /// so.
  bool finite(index_t first, index_t last) {
    if (first >= last) return true;
    std::memset(work_.queries, 0, sizeof(float) * attention_stride);
    bool all = true;
    for (index_t e = 0; e < a_.out.head_dim; e += attention_depth) {
      const index_t n = lesser(attention_depth, a_.out.head_dim - e);
      multiply_values(work_.queries, 1, {first, last}, e, n);
      for (index_t i = 0; i < n; ++i) all = all && work_.sums[i] == 0;
    }
    return all;
  }

  /// sums = weights times columns [e, e + n) of the values.
  void multiply_values(const float* weights, index_t rows, KeyRange keys, index_t e, index_t n) {
    const StoredFloats values =
        a_.values.from(keys.first * a_.v_key_stride + rows_.kv_head * a_.v_head_stride + e);
    const index_t lanes = kernel_.keys / 2, count = keys.last - keys.first, whole = n / lanes;
    kernel_.multiply[v_dtype_]({work_.sums, weights, values.at(0),
                                a_.v_key_stride * traits(a_.values.dtype()).bytes, rows, count,
                                whole, false});
    if (whole * lanes == n) return;
    for (index_t j = 0; j < count; ++j) {
      for (index_t i = 0; i < lanes; ++i) {
        const index_t at = whole * lanes + i;
        work_.tail[j * lanes + i] = at < n ? values[j * a_.v_key_stride + at] : 0.0f;
      }
    }
    kernel_.multiply[0]({work_.sums + whole * lanes, weights,
                         reinterpret_cast<const std::byte*>(work_.tail),
                         lanes * index_t{sizeof(float)}, rows, count, 1, false});
  }

  /// Takes values into the rows [r, r + rows) of the block.
  void weigh_values(index_t r, index_t rows, KeyRange keys, const float* old_weight,
                    const float* weight) {
    for (index_t e = 0; e < a_.out.head_dim; e += attention_depth) {
      const index_t n = lesser(attention_depth, a_.out.head_dim - e);
      multiply_values(work_.scores + r * attention_stride + column(keys.first), rows, keys, e, n);
      for (index_t i = 0; i < rows; ++i) {
        kernel_.merge(rows_.out[row_ + r + i] + e, work_.sums + i * attention_stride, n,
                      old_weight[r + i], weight[r + i]);
      }
    }
  }

  const Attention& kernel_;
  const AttentionArgs& a_;
  AttentionRows& rows_;
  AttentionWork& work_;
  KeyRange tile_, needed_;
  int k_dtype_, v_dtype_;
  bool packs_again_ = false, keeps_panels_ = false;
  index_t row_ = 0, count_ = 0;  // the block's rows
};

/// Takes the keys of [first, last), which lie on the edges of tiles, into the rows.
inline void attend(const Attention& kernel, const AttentionArgs& a, AttentionRows& rows,
                   KeyRange keys) {
  AttentionWork work;
  const index_t step = attention_tile(a.q.head_dim);
  for (index_t first = keys.first; first < keys.last; first += step) {
    AttentionTile(kernel, a, rows, work, {first, lesser(first + step, a.key_count)}).attend();
  }
}

/// A row's log sum e^s, stored if it is asked for; returns what its sums are to be multiplied with.
inline float finish_total(const AttentionArgs& a, index_t query, index_t head, float peak,
                          float total) {
  if (a.log_sum_exp != nullptr) {
    a.log_sum_exp[query * a.q.heads + head] =
        total == 0 ? -std::numeric_limits<float>::infinity() : peak + std::log(total);
  }
  return total == 0 ? 0.0f : 1.0f / total;  // no key, or scores of -inf alone
}

/// sums / total, and log sum e^s.
inline void finish_row(const Attention& kernel, const AttentionArgs& a, index_t query, index_t head,
                       const float* sums, float peak, float total) {
  const float factor = finish_total(a, query, head, peak, total);
  kernel.finish(a.out.at(query, head), sums, a.out.head_dim, factor);
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
