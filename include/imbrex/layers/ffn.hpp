// The feed-forward layer of the original Transformer (Vaswani et al. 2017, section 3.3).
#pragma once

#include "imbrex/kernels/activation.hpp"
#include "imbrex/layers/feed_forward.hpp"
#include "imbrex/layers/linear.hpp"

namespace imbrex::inline IMBREX_ABI {

/// y = down(act(up(x))): two matrices; ReLU in the original, GELU in GPT-2. M is the model's axis,
/// F the hidden one. [..., M] to [..., M].
template <class M, class F>
class FFN : public FeedForward<FFN<M, F>, M> {
  friend FeedForward<FFN, M>;

 public:
  /// Room for the hidden activations of some rows.
  struct Scratch {
    View<float, Time<>, F> up;
  };

  /// The layer's parts.
  Linear<M, F> up;
  Linear<F, M> down;
  Activation activation = Activation::gelu;

  /// Throws ShapeError where a matrix is missing, or they do not fit each other, ConfigError for an
  /// activation that there is not.
  void check_weights() const {
    check_activation(activation);
    up.check_weight();
    down.check_weight();
    const index_t* us = up.weight().sizes();    // Hidden, Model
    const index_t* ds = down.weight().sizes();  // Model, Hidden
    if (ds[0] != us[1] || ds[1] != us[0]) {
      fail_layer(down.path(), "ffn: up and down must have the same Model and Hidden",
                 up.weight().ref("up"), down.weight().ref("down"));
    }
  }

  /// The same, and where the scratch is not one for `rows` rows.
  void check(index_t rows, const Scratch& s) const {
    check_weights();
    check_scratch(MutableOperand::of(s.up), {rows, up.weight().rows()});
  }

  /// Cuts scratch for `rows` rows out of an arena.
  Scratch scratch(Arena& arena, index_t rows) const {
    return {arena.take(Time<>(rows), make_axis<F>(up.weight().rows()))};
  }

 private:
  void run(const View<float, Time<>, M>& y, const View<const float, Time<>, M>& x, const Scratch& s,
           const Observer& observer, index_t layer) const {
    up.into(s.up, x);
    observer.show(layer, "ffn_up", s.up);
    kernels::activate(as_rows(s.up), as_rows(s.up), activation);
    observer.show(layer, "ffn_hidden", s.up);
    down.into(y, s.up);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
