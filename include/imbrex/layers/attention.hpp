// Attention (Vaswani et al. 2017) with grouped key heads (Ainslie et al. 2023): MHA where K = H,
// MQA where K = 1, GQA in between; one class.
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include "imbrex/kernels/attention.hpp"
#include "imbrex/kernels/row_blocks.hpp"
#include "imbrex/layers/linear.hpp"
#include "imbrex/layers/observer.hpp"
#include "imbrex/layers/rms_norm.hpp"
#include "imbrex/layers/rope.hpp"
#include "imbrex/layers/segment.hpp"
#include "imbrex/tensor/by_name.hpp"

namespace imbrex::inline IMBREX_ABI {

/// y = out(softmax(q k^T scale + mask) v) with q, k, v = x W^T (+ b), q and k normed where the
/// model has such norms and then turned by position. M is the model's axis, H the query heads', K
/// the key heads', D a head's elements; query head h reads key head h / (H/K). [..., Time, M] to
/// the same.
template <class M, class H, class K, class D>
class Attention {
  static_assert(heads_divide<H, K>, "attention: the number of KvHeads must divide that of Heads");

 public:
  /// What `accepts` asks of a layer.
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, Axes<Time<>, M>>;

  /// The axis of the residual stream, and which rows of a chunk belong to which sequence.
  using model_axis = M;
  using Segments = std::span<const Segment>;

  /// Room for the heads of some rows.
  struct Scratch {
    View<float, Time<>, H, D> q;
    View<float, Time<>, K, D> k, v;
    View<float, Time<>, H, D> attended;
  };

  /// The layer's parts; those that are optional may be absent. Any of the matrices may have a bias.
  Linear<M, Axes<H, D>> q;
  Linear<M, Axes<K, D>> k, v;
  Linear<Axes<H, D>, M> out;
  std::optional<RMSNorm<D>> q_norm, k_norm;        ///< over each head (Qwen3, Gemma 3)
  std::optional<RMSNorm<Axes<H, D>>> q_norm_full;  ///< over all heads at once (OLMo 2)
  std::optional<RMSNorm<Axes<K, D>>> k_norm_full;
  std::optional<Rope<D>> rope;  ///< none: no positions ("NoPE")
  Mask mask = Mask::causal();
  float scale = 0;     ///< of q.k; 0 is 1 / sqrt(D)
  float soft_cap = 0;  ///< scores become cap tanh(score / cap), before the mask; 0 is none

  /// Returns y for whole sequences, each [Time, M] from position 0, the axes before Time telling
  /// them apart. An observer sees each sequence's steps. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x, const Observer& observer = {}) const {
    static_assert(axes_agree<tail_of<X, Axes<Time<>, M>>, Axes<Time<>, M>>,
                  "attention(x): x must end with the axes Time and the model's");
    using List = mapped_axes<X, M, M>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, out.weight().out()));
    apply(from, MutableOperand::of(y), observer);
    return y;
  }

  /// Writes y for a chunk x[Time, M] of rows of one or more sequences: row t stands at
  /// positions[t], and each row belongs to one segment. New keys and values are stored in the
  /// segments. `y` may be x, and must lie in evenly spaced rows; allocates nothing where x's rows
  /// are. Throws ShapeError before it writes to y or the segments.
  template <TensorLike Y, TensorLike X, TensorLike P>
  void into(Y&& y, const X& x, const P& positions, Segments segments, const Scratch& scratch,
            const Observer& observer = {}, index_t layer = -1) const {
    static_assert(axes_agree<axes_of<X>, Axes<Time<>, M>>,
                  "attention.into(y, x, ...): x must have the axes Time and the model's");
    static_assert(axes_agree<axes_of<Y>, Axes<Time<>, M>>,
                  "attention.into(y, x, ...): y must have the axes Time and the model's");
    static_assert(are_positions<P>,
                  "attention.into(y, x, positions, ...): positions must be index_t with the axis "
                  "Time alone");
    run(MutableOperand::of(y), ConstOperand::of(x), as_positions(positions), segments, scratch,
        observer, layer);
  }

  /// Throws ShapeError where a projection is missing, or they do not fit each other.
  void check_weights() const {
    q.check_weight();
    k.check_weight();
    v.check_weight();
    out.check_weight();
    const index_t* qs = q.weight().sizes();    // Heads, HeadDim, Model
    const index_t* ks = k.weight().sizes();    // KvHeads, HeadDim, Model
    const index_t* vs = v.weight().sizes();    // KvHeads, HeadDim, Model
    const index_t* os = out.weight().sizes();  // Model, Heads, HeadDim
    const bool divides = ks[0] == 0 ? qs[0] == 0 : qs[0] % ks[0] == 0;
    if (!divides) fail_pair("attention: the number of KvHeads must divide that of Heads", k, "k");
    const char* fit = "attention: the projections must have the same heads, HeadDim and Model";
    if (ks[1] != qs[1] || ks[2] != qs[2]) fail_pair(fit, k, "k");
    if (vs[0] != ks[0] || vs[1] != ks[1] || vs[2] != ks[2]) fail_pair(fit, v, "v");
    if (os[0] != qs[2] || os[1] != qs[0] || os[2] != qs[1]) fail_pair(fit, out, "out");
  }

  /// Cuts scratch for `rows` rows out of an arena.
  Scratch scratch(Arena& arena, index_t rows) const {
    const Time<> time(rows);
    const H heads = make_axis<H>(q.weight().sizes()[0]);
    const K kv_heads = make_axis<K>(k.weight().sizes()[0]);
    const D head_dim = make_axis<D>(q.weight().sizes()[1]);
    return {arena.take(time, heads, head_dim), arena.take(time, kv_heads, head_dim),
            arena.take(time, kv_heads, head_dim), arena.take(time, heads, head_dim)};
  }

  /// Cuts a segment for `rows` rows from position 0, with room for its keys and values.
  Segment segment(Arena& arena, index_t rows) const {
    const K kv_heads = make_axis<K>(k.weight().sizes()[0]);
    const D head_dim = make_axis<D>(q.weight().sizes()[1]);
    return {0, rows, 0, arena.take(kv_heads, Keys<>(rows), head_dim),
            arena.take(kv_heads, Keys<>(rows), head_dim)};
  }

  /// The scale of q.k in use.
  float score_scale() const {
    if (scale != 0) return scale;
    return 1.0f / std::sqrt(static_cast<float>(q.weight().sizes()[1]));
  }

 private:
  void apply(const ConstOperand& x, const MutableOperand& y, const Observer& observer) const {
    check_input(x);
    const RowsOperand rows(x, 1);
    const WholeSequences<Attention> sequences(*this, x.sizes[x.rank - 2]);
    sequences.each(rows_into(y, 1, out.path()), rows.rows(), [&](const auto& to, const auto& from) {
      into(to, from, sequences.positions, sequences.segments(), sequences.scratch, observer);
    });
  }

  void run(const MutableOperand& y, const ConstOperand& x, const RowPositions& positions,
           Segments segments, const Scratch& scratch, const Observer& observer,
           index_t layer) const {
    check_input(x);
    check_call(y, x.sizes[0], positions, scratch);
    check_segments(x.sizes[0], segments);
    project(as_time<M>(x), positions, scratch, observer, layer);
    for (const Segment& segment : segments) {
      store(segment, as_heads(scratch.k), segment.keys);
      store(segment, as_heads(scratch.v), segment.values);
      attend(segment, scratch);
    }
    observer.show(layer, "attended", scratch.attended);
    out.into(as_time<M>(y), scratch.attended);
  }

  void check_input(const ConstOperand& x) const {
    check_tail(x, q.weight().sizes() + 2, 1, q.path(),
               "attention(x): x must end with the axes Time and the model's", q.weight().ref("q"));
  }

  template <class Layer>
  [[noreturn, gnu::cold]] void fail_pair(const char* sentence, const Layer& layer,
                                         const char* name) const {
    fail_layer(layer.path(), sentence, q.weight().ref("q"), layer.weight().ref(name));
  }

  /// What would otherwise be found out after keys and values are stored.
  void check_call(const MutableOperand& y, index_t rows, const RowPositions& positions,
                  const Scratch& s) const {
    check_weights();
    const index_t sizes[] = {rows, y.sizes[0], positions.size(0), s.attended.size(0)};
    if (sizes[1] != rows || sizes[2] != rows || sizes[3] != rows) {
      const char* names[] = {"rows of x", "rows of y", "positions", "rows of scratch"};
      fail<ShapeError>("attention.into(y, x): y, positions and scratch must have the rows of x",
                       {"", names, sizes, 4});
    }
    if (y.sizes[1] != out.weight().sizes()[0]) {
      fail_layer(out.path(), "attention.into(y, x): y must end with the model's axis", y.ref("y"),
                 out.weight().ref("out"));
    }
    rows_into(y, 1, out.path());
    const index_t heads = q.weight().sizes()[0], kv_heads = k.weight().sizes()[0],
                  head_dim = q.weight().sizes()[1];
    check_scratch(MutableOperand::of(s.q), {rows, heads, head_dim});
    check_scratch(MutableOperand::of(s.k), {rows, kv_heads, head_dim});
    check_scratch(MutableOperand::of(s.v), {rows, kv_heads, head_dim});
    check_scratch(MutableOperand::of(s.attended), {rows, heads, head_dim});
  }

  void check_segments(index_t rows, Segments segments) const {
    index_t next = 0;
    for (const Segment& s : segments) {
      const bool room = s.keys.size(1) == s.start + s.rows && s.values.size(1) == s.start + s.rows;
      if (s.first != next || s.rows < 0 || s.start < 0 || !room) {
        const index_t sizes[] = {s.first, s.rows, s.start, s.keys.size(1), s.values.size(1)};
        const char* names[] = {"first", "rows", "start", "Keys of keys", "Keys of values"};
        fail<ShapeError>(
            "attention: segments follow each other, with start + rows keys and values each",
            {"segment", names, sizes, 5});
      }
      const index_t* heads = k.weight().sizes();  // KvHeads, HeadDim, Model
      for (const CachedHeads& cached : {s.keys, s.values}) {
        if (cached.size(0) != heads[0] || cached.size(2) != heads[1] || !cached.dense()) {
          const char* axes[] = {KvHeads<>::name, Keys<>::name, HeadDim<>::name};
          const index_t has[] = {cached.size(0), cached.size(1), cached.size(2)};
          fail_layer(k.path(),
                     "attention: keys and values must have the heads of the layer, each in a row",
                     {"cached", axes, has, 3}, k.weight().ref("k"));
        }
      }
      next += s.rows;
    }
    if (next != rows) {
      const index_t sizes[] = {rows, next};
      const char* names[] = {"rows of x", "rows of segments"};
      fail<ShapeError>("attention: every row must belong to a segment", {"", names, sizes, 2});
    }
  }

  /// Queries, keys and values of the rows, normed and turned.
  void project(const View<const float, Time<>, M>& x, const RowPositions& positions,
               const Scratch& s, const Observer& observer, index_t layer) const {
    q.into(s.q, x);
    k.into(s.k, x);
    v.into(s.v, x);
    observer.show(layer, "q", s.q);
    observer.show(layer, "k", s.k);
    observer.show(layer, "v", s.v);
    if (q_norm) q_norm->into(s.q, s.q);
    if (k_norm) k_norm->into(s.k, s.k);
    if (q_norm_full) q_norm_full->into(s.q, s.q);
    if (k_norm_full) k_norm_full->into(s.k, s.k);
    if (rope) {
      rope->turn(s.q, positions);
      rope->turn(s.k, positions);
      observer.show(layer, "q_turned", s.q);
      observer.show(layer, "k_turned", s.k);
    }
  }

  /// Stores a segment's rows of `from` behind the keys (or values) it had.
  static void store(const Segment& segment, const kernels::ConstHeads& from,
                    const CachedHeads& to) {
    kernels::for_each_row(segment.rows, from.heads * from.head_dim, [&](index_t i) {
      for (index_t h = 0; h < from.heads; ++h) {
        to.write(h, segment.start + i, from.at(segment.first + i, h));
      }
    });
  }

  void attend(const Segment& segment, const Scratch& s) const {
    kernels::AttentionArgs args;
    args.out = as_heads(slice<Time>(s.attended, segment.first, segment.rows));
    args.q = as_heads(slice<Time>(s.q, segment.first, segment.rows));
    args.keys = segment.keys.numbers();
    args.values = segment.values.numbers();
    args.kv_heads = segment.keys.size(0);
    args.key_count = segment.keys.size(1);
    args.k_head_stride = segment.keys.stride(0);
    args.k_key_stride = segment.keys.stride(1);
    args.v_head_stride = segment.values.stride(0);
    args.v_key_stride = segment.values.stride(1);
    args.scale = score_scale();
    args.mask = mask;
    args.soft_cap = soft_cap;
    kernels::attention(args);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
