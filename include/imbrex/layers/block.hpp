// A decoder block: attention, then a feed-forward layer, each added to the residual stream.
#pragma once

#include <optional>

#include "imbrex/kernels/add.hpp"
#include "imbrex/layers/attention.hpp"
#include "imbrex/layers/swiglu.hpp"

namespace imbrex::inline IMBREX_ABI {

/// x <- x + attention(x), x <- x + ffn(x), with norms where the model has them:
///
///     pre-norm   x + f(norm(x))           Llama: attention_norm and ffn_norm
///     post-norm  x + norm(f(x))           OLMo 2: attention_post_norm and ffn_post_norm
///     both       x + norm(f(norm(x)))     Gemma 2 and 3: all four
///
/// M is the model's axis, H the heads', K the key heads', D a head's elements, F the hidden axis.
/// [..., Time, M] to the same.
template <class M, class H, class K, class D, class F, class Ffn = SwiGLU<M, F>,
          class Norm = RMSNorm<M>>
class Block {
  static_assert(heads_divide<H, K>, "block: the number of KvHeads must divide that of Heads");

 public:
  /// What `accepts` asks of a layer.
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, Axes<Time<>, M>>;

  /// The parts' types.
  using AttentionLayer = Attention<M, H, dividing_heads<H, K>, D>;
  using Segments = typename AttentionLayer::Segments;
  using model_axis = M;

  /// Room for the activations of some rows.
  struct Scratch {
    View<float, Time<>, M> normed, result;
    typename AttentionLayer::Scratch attention;
    typename Ffn::Scratch ffn;
  };

  /// The block's parts; each norm may be absent.
  std::optional<Norm> attention_norm, attention_post_norm;
  AttentionLayer attention;
  std::optional<Norm> ffn_norm, ffn_post_norm;
  Ffn ffn;

  /// Returns the block's output for whole sequences from position 0. An observer sees each
  /// sequence's steps. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x, const Observer& observer = {}) const {
    static_assert(axes_agree<tail_of<X, Axes<Time<>, M>>, Axes<Time<>, M>>,
                  "block(x): x must end with the axes Time and the model's");
    using List = mapped_axes<X, M, M>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, attention.out.weight().out()));
    apply(from, MutableOperand::of(y), observer);
    return y;
  }

  /// Takes rows x[Time, M] of the residual stream, the elements of each next to each other, through
  /// the block, in place; allocates nothing. Positions and segments as in Attention::into.
  /// Throws ShapeError before it writes to x or the segments.
  template <TensorLike X, TensorLike P>
  void into(X&& x, const P& positions, Segments segments, const Scratch& scratch,
            const Observer& observer = {}, index_t layer = -1) const {
    static_assert(axes_agree<axes_of<X>, Axes<Time<>, M>>,
                  "block.into(x, ...): x must have the axes Time and the model's");
    static_assert(are_positions<P>,
                  "block.into(x, positions, ...): positions must be index_t with the axis Time "
                  "alone");
    run(MutableOperand::of(x), as_positions(positions), segments, scratch, observer, layer);
  }

  /// Cuts scratch for `rows` rows out of an arena.
  Scratch scratch(Arena& arena, index_t rows) const {
    const Time<> time(rows);
    const M model = make_axis<M>(attention.out.weight().rows());
    return {arena.take(time, model), arena.take(time, model), attention.scratch(arena, rows),
            ffn.scratch(arena, rows)};
  }

  /// As Attention's.
  Segment segment(Arena& arena, index_t rows) const { return attention.segment(arena, rows); }

 private:
  void run(const MutableOperand& operand, const RowPositions& positions, Segments segments,
           const Scratch& scratch, const Observer& observer, index_t layer) const {
    check_call(operand, positions, scratch);
    const View<float, Time<>, M> x = as_time<M>(operand);
    pre(attention_norm, x, scratch, observer, layer, "attn_norm");
    attention.into(scratch.result, scratch.normed, positions, segments, scratch.attention, observer,
                   layer);
    post(attention_post_norm, x, scratch, observer, layer, "attn_out", "attn_residual");
    pre(ffn_norm, x, scratch, observer, layer, "ffn_norm");
    ffn.into(scratch.result, scratch.normed, scratch.ffn, observer, layer);
    post(ffn_post_norm, x, scratch, observer, layer, "ffn_out", "ffn_residual");
  }

  /// What would otherwise be found out with half of the block added to x, or beyond the end of
  /// scratch.
  void check_call(const MutableOperand& x, const RowPositions& positions, const Scratch& s) const {
    const index_t rows = x.sizes[0];
    attention.check_weights();
    ffn.check(rows, s.ffn);
    check_model();
    check_input(x);
    x.check_dense();
    if (positions.size(0) != rows) {
      const index_t sizes[] = {rows, positions.size(0)};
      const char* names[] = {"rows of x", "positions"};
      fail<ShapeError>("block.into(x, ...): there must be one position for each row of x",
                       {"", names, sizes, 2});
    }
    check_scratch(MutableOperand::of(s.normed), {rows, x.sizes[1]});
    check_scratch(MutableOperand::of(s.result), {rows, x.sizes[1]});
  }

  template <class T>
  void check_input(const Operand<T>& x) const {
    check_tail(x, attention.q.weight().sizes() + 2, 1, attention.q.path(),
               "block(x): x must end with the axes Time and the model's",
               attention.q.weight().ref("q"));
  }

  void check_model() const {
    const index_t model = attention.out.weight().rows();
    bool same = ffn.down.weight().rows() == model;
    for (const auto* norm : {&attention_norm, &attention_post_norm, &ffn_norm, &ffn_post_norm}) {
      same = same && (!*norm || (*norm)->weight().count() == model);
    }
    if (!same) {
      fail_layer(ffn.down.path(), "block: attention, norms and ffn must have the same Model",
                 attention.out.weight().ref("attention.out"), ffn.down.weight().ref("ffn.down"));
    }
  }

  static void copy_rows(const kernels::Rows& to, const kernels::ConstRows& from) {
    for (index_t t = 0; t < from.rows; ++t) {
      std::memcpy(to.row(t), from.row(t), static_cast<std::size_t>(from.cols) * sizeof(float));
    }
  }

  /// normed <- norm(x), or x where there is no norm before the sublayer.
  static void pre(const std::optional<Norm>& norm, const View<float, Time<>, M>& x,
                  const Scratch& s, const Observer& observer, index_t layer, const char* name) {
    if (norm) {
      norm->into(s.normed, x);
    } else {
      copy_rows(as_rows(s.normed), as_rows(x));
    }
    observer.show(layer, name, s.normed);
  }

  /// x <- x + result, normed first where there is a norm after the sublayer.
  static void post(const std::optional<Norm>& norm, const View<float, Time<>, M>& x,
                   const Scratch& s, const Observer& observer, index_t layer, const char* name,
                   const char* sum_name) {
    if (norm) norm->into(s.result, s.result);
    observer.show(layer, name, s.result);
    kernels::add(as_rows(x), as_rows(x), as_rows(s.result));
    observer.show(layer, sum_name, x);
  }

  void apply(const ConstOperand& x, const MutableOperand& y, const Observer& observer) const {
    check_input(x);
    const RowsOperand rows(x, 1);
    const WholeSequences<Block> sequences(*this, x.sizes[x.rank - 2]);
    sequences.each(rows_into(y, 1, {}), rows.rows(), [&](const auto& to, const auto& from) {
      copy_rows(as_rows(to), as_rows(from));
      into(to, sequences.positions, sequences.segments(), sequences.scratch, observer);
    });
  }
};

}  // namespace imbrex::inline IMBREX_ABI
