// The gated feed-forward layer (Shazeer: "GLU Variants Improve Transformer", 2020).
#pragma once

#include "imbrex/kernels/activation.hpp"
#include "imbrex/layers/arena.hpp"
#include "imbrex/layers/linear.hpp"
#include "imbrex/layers/observer.hpp"

namespace imbrex::inline IMBREX_ABI {

/// y = down(act(gate(x)) * up(x)): three matrices; SwiGLU with SiLU, GeGLU with GELU. M is the
/// model's axis, F the hidden one. [..., M] to [..., M].
template <class M, class F>
class SwiGLU {
 public:
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, Axes<M>>;

  /// Room for the hidden activations of some rows.
  struct Scratch {
    View<float, Time<>, F> gate, up;
  };

  Linear<M, F> gate, up;
  Linear<F, M> down;
  Activation activation = Activation::silu;

  /// Returns y. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x, const Observer& observer = {}) const {
    static_assert(axes_agree<tail_of<X, M>, M>,
                  "swiglu(x): the last axis of x must be the model's");
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
    gate.into(scratch.gate, x);
    observer.show(layer, "ffn_gate", scratch.gate);
    up.into(scratch.up, x);
    observer.show(layer, "ffn_up", scratch.up);
    kernels::gate(as_rows(scratch.gate), as_rows(scratch.gate), as_rows(scratch.up), activation);
    observer.show(layer, "ffn_hidden", scratch.gate);
    down.into(y, scratch.gate);
  }

  /// Throws ShapeError where the matrices do not fit each other.
  void check_weights() const {
    const index_t* gs = gate.weight().sizes();  // Hidden, Model
    const index_t* us = up.weight().sizes();    // Hidden, Model
    const index_t* ds = down.weight().sizes();  // Model, Hidden
    const char* fit = "swiglu: gate, up and down must have the same Model and Hidden";
    if (us[0] != gs[0] || us[1] != gs[1]) {
      fail_layer(up.path(), fit, gate.weight().ref("gate"), up.weight().ref("up"));
    }
    if (ds[0] != gs[1] || ds[1] != gs[0]) {
      fail_layer(down.path(), fit, gate.weight().ref("gate"), down.weight().ref("down"));
    }
  }

  /// Cuts scratch for `rows` rows out of an arena.
  Scratch scratch(Arena& arena, index_t rows) const {
    const F hidden = make_axis<F>(gate.weight().rows());
    return {arena.take(Time<>(rows), hidden), arena.take(Time<>(rows), hidden)};
  }

 private:
  void apply(const ConstOperand& x, const MutableOperand& y, const Observer& observer) const {
    check_tail(x, gate.weight().sizes() + 1, 1, gate.path(),
               "swiglu(x): the last axis of x must be the model's", gate.weight().ref("gate"));
    const RowsOperand rows(x, 1);
    const auto memory = Scratched<SwiGLU>(*this, rows.rows().rows);
    into(as_time<M>(rows_into(y, 1, down.path())), as_time<M>(rows.rows()), memory.scratch,
         observer);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
