// The gated feed-forward layer (Shazeer: "GLU Variants Improve Transformer", 2020).
#pragma once

#include "imbrex/kernels/activation.hpp"
#include "imbrex/layers/feed_forward.hpp"
#include "imbrex/layers/linear.hpp"

namespace imbrex::inline IMBREX_ABI {

/// y = down(act(gate(x)) * up(x)): three matrices; SwiGLU with SiLU, GeGLU with GELU. M is the
/// model's axis, F the hidden one. [..., M] to [..., M].
template <class M, class F>
class SwiGLU : public FeedForward<SwiGLU<M, F>, M> {
  friend FeedForward<SwiGLU, M>;

 public:
  /// Room for the hidden activations of some rows.
  struct Scratch {
    View<float, Time<>, F> gate, up;
  };

  /// The layer's parts.
  Linear<M, F> gate, up;
  Linear<F, M> down;
  Activation activation = Activation::silu;

  /// Throws ShapeError where a matrix is missing, or they do not fit each other, ConfigError for an
  /// activation that there is not.
  void check_weights() const {
    check_activation(activation);
    gate.check_weight();
    up.check_weight();
    down.check_weight();
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

  /// The same, and where the scratch is not one for `rows` rows.
  void check(index_t rows, const Scratch& s) const {
    check_weights();
    check_scratch(MutableOperand::of(s.gate), {rows, gate.weight().rows()});
    check_scratch(MutableOperand::of(s.up), {rows, gate.weight().rows()});
  }

  /// Cuts scratch for `rows` rows out of an arena.
  Scratch scratch(Arena& arena, index_t rows) const {
    const F hidden = make_axis<F>(gate.weight().rows());
    return {arena.take(Time<>(rows), hidden), arena.take(Time<>(rows), hidden)};
  }

 private:
  void run(const View<float, Time<>, M>& y, const View<const float, Time<>, M>& x, const Scratch& s,
           const Observer& observer, index_t layer) const {
    gate.into(s.gate, x);
    observer.show(layer, "ffn_gate", s.gate);
    up.into(s.up, x);
    observer.show(layer, "ffn_up", s.up);
    kernels::gate(as_rows(s.gate), as_rows(s.gate), as_rows(s.up), activation);
    observer.show(layer, "ffn_hidden", s.gate);
    down.into(y, s.gate);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
