// The feed-forward layer of the original Transformer (Vaswani et al. 2017, section 3.3).
#pragma once

#include "imbrex/kernels/activation.hpp"
#include "imbrex/layers/arena.hpp"
#include "imbrex/layers/linear.hpp"
#include "imbrex/layers/observer.hpp"

namespace imbrex::inline IMBREX_ABI {

/// y = down(act(up(x))): two matrices; ReLU in the original, GELU in GPT-2. M is the model's axis,
/// F the hidden one. [..., M] to [..., M].
template <class M, class F>
class FFN {
 public:
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, Axes<M>>;

  /// Room for the hidden activations of some rows.
  struct Scratch {
    View<float, Time<>, F> up;
  };

  Linear<M, F> up;
  Linear<F, M> down;
  Activation activation = Activation::gelu;

  /// Returns y. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x, const Observer& observer = {}) const {
    static_assert(axes_agree<tail_of<X, M>, M>, "ffn(x): the last axis of x must be the model's");
    using List = mapped_axes<X, M, M>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, down.weight().out()));
    apply(from, MutableOperand::of(y), observer);
    return y;
  }

  /// Writes y for rows [Time, M]; allocates nothing. `y` may be x. Throws ShapeError.
  void into(const View<float, Time<>, M>& y, const View<const float, Time<>, M>& x,
            const Scratch& scratch, const Observer& observer = {}, index_t layer = -1) const {
    check_weights();
    up.into(scratch.up, x);
    observer.show(layer, "ffn_up", scratch.up);
    kernels::activate(as_rows(scratch.up), as_rows(scratch.up), activation);
    observer.show(layer, "ffn_hidden", scratch.up);
    down.into(y, scratch.up);
  }

  /// Throws ShapeError where the matrices do not fit each other.
  void check_weights() const {
    const index_t* us = up.weight().sizes();    // Hidden, Model
    const index_t* ds = down.weight().sizes();  // Model, Hidden
    if (ds[0] != us[1] || ds[1] != us[0]) {
      fail_layer(down.path(), "ffn: up and down must have the same Model and Hidden",
                 up.weight().ref("up"), down.weight().ref("down"));
    }
  }

  /// Cuts scratch for `rows` rows out of an arena.
  Scratch scratch(Arena& arena, index_t rows) const {
    return {arena.take(Time<>(rows), make_axis<F>(up.weight().rows()))};
  }

 private:
  void apply(const ConstOperand& x, const MutableOperand& y, const Observer& observer) const {
    check_tail(x, up.weight().sizes() + 1, 1, up.path(),
               "ffn(x): the last axis of x must be the model's", up.weight().ref("up"));
    const RowsOperand rows(x, 1);
    const auto memory = Scratched<FFN>(*this, rows.rows().rows);
    into(as_time<M>(rows_into(y, 1, down.path())), as_time<M>(rows.rows()), memory.scratch,
         observer);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
