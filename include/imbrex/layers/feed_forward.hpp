// What feed-forward layers have in common: the public face over rows of the model's axis.
#pragma once

#include "imbrex/base/activation.hpp"
#include "imbrex/layers/arena.hpp"
#include "imbrex/layers/observer.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Throws ConfigError where the value names no activation: a cast could have made it.
inline void check_activation(Activation activation) {
  if (activation > Activation::relu) {
    raise(ConfigError("activation", std::to_string(static_cast<int>(activation)), "0 to 3"));
  }
}

/// Maps [..., M] to [..., M], each row by itself. Layer is the feed-forward layer: it has `up` and
/// `down`, its first matrix (or one of them) and its last, `check(rows, scratch)` says whether a
/// call would fit, and `run(y, x, scratch, observer, index)` does the rows.
template <class Layer, class M>
class FeedForward {
 public:
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, Axes<M>>;

  /// Returns y. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x, const Observer& observer = {}) const {
    static_assert(axes_agree<tail_of<X, M>, M>, "ffn(x): the last axis of x must be the model's");
    using List = mapped_axes<X, M, M>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, layer().down.weight().out()));
    apply(from, MutableOperand::of(y), observer);
    return y;
  }

  /// Writes y for rows x[Time, M]; `y` may be x, and must lie in evenly spaced rows. Allocates
  /// nothing where x's rows are. Throws ShapeError before it writes to y.
  template <TensorLike Y, TensorLike X, class L = Layer>
  void into(Y&& y, const X& x, const typename L::Scratch& scratch, const Observer& observer = {},
            index_t index = -1) const {
    static_assert(axes_agree<axes_of<X>, Axes<Time<>, M>>,
                  "ffn.into(y, x, ...): x must have the axes Time and the model's");
    static_assert(axes_agree<axes_of<Y>, Axes<Time<>, M>>,
                  "ffn.into(y, x, ...): y must have the axes Time and the model's");
    run_into(MutableOperand::of(y), ConstOperand::of(x), scratch, observer, index);
  }

 private:
  const Layer& layer() const { return static_cast<const Layer&>(*this); }

  void check_input(const ConstOperand& x) const {
    const auto& up = layer().up;
    check_tail(x, up.weight().sizes() + 1, 1, up.path(),
               "ffn(x): the last axis of x must be the model's", up.weight().ref("up"));
  }

  template <class Scratch>
  void run_into(const MutableOperand& y, const ConstOperand& x, const Scratch& scratch,
                const Observer& observer, index_t index) const {
    const std::string& path = layer().down.path();
    check_input(x);
    check_lead(x, y, 2, path);
    layer().check(x.sizes[0], scratch);
    rows_into(y, 1, path);
    layer().run(as_time<M>(y), as_time<M>(x), scratch, observer, index);
  }

  void apply(const ConstOperand& x, const MutableOperand& y, const Observer& observer) const {
    check_input(x);
    layer().check_weights();
    const RowsOperand rows(x, 1);
    const Scratched<Layer> memory(layer(), rows.rows().rows);
    layer().run(as_time<M>(rows_into(y, 1, layer().down.path())), as_time<M>(rows.rows()),
                memory.scratch, observer, -1);
  }
};

}  // namespace imbrex::inline IMBREX_ABI
