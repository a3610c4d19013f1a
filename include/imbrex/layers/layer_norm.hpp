// Layer norm (Ba, Kiros, Hinton: "Layer Normalization", 2016).
#pragma once

#include "imbrex/kernels/layer_norm.hpp"
#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Over the axis (or axes) A, the last of x: y = (x - mean(x)) / sqrt(var(x) + eps) * w + b, the
/// variance divided by n; statistics in f32 or better. [..., A] to [..., A].
template <class A>
class LayerNorm {
 public:
  using axes = list_of<A>;
  using weight_type = tensor_of<float, axes>;

  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, axes>;

  /// With a weight and a bias. Throws ShapeError where their sizes differ.
  LayerNorm(weight_type weight, weight_type bias, float eps = 1e-5f, std::string path = {})
      : weight_(std::move(weight)), bias_(std::move(bias)), eps_(eps), path_(std::move(path)) {
    if (!(weight_.shape() == bias_.shape())) {
      fail_layer(path_, "layer_norm: weight and bias must have the same sizes",
                 ConstOperand::of(weight_).ref("weight"), ConstOperand::of(bias_).ref("bias"));
    }
  }

  /// Returns the normalised x. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x) const {
    static_assert(axes_agree<tail_of<X, A>, A>,
                  "layer_norm(x): the last axis of x must be the norm's");
    using List = mapped_axes<X, A, A>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, weight_.shape()));
    apply(from, MutableOperand::of(y));
    return y;
  }

  /// Writes into `y`, which may be x itself; allocates nothing. Throws ShapeError.
  template <TensorLike Y, TensorLike X>
  void into(Y&& y, const X& x) const {
    static_assert(axes_agree<tail_of<X, A>, A>,
                  "layer_norm.into(y, x): the last axis of x must be the norm's");
    static_assert(axes_agree<axes_of<Y>, mapped_axes<X, A, A>>,
                  "layer_norm.into(y, x): y must have the axes of x");
    apply(ConstOperand::of(x), MutableOperand::of(y));
  }

  const weight_type& weight() const { return weight_; }
  const weight_type& bias() const { return bias_; }
  float eps() const { return eps_; }
  const std::string& path() const { return path_; }

 private:
  void apply(const ConstOperand& x, const MutableOperand& y) const {
    constexpr index_t rank = list_size<axes>;
    const auto w = ConstOperand::of(weight_);
    check_tail(x, w.sizes, rank, path_, "layer_norm(x): the last axis of x must be the norm's",
               w.ref("weight"));
    check_lead(x, y, x.rank, path_);
    const RowsOperand rows(x, rank);
    kernels::layer_norm(rows_into(y, rank, path_), rows.rows(), weight_.data(), bias_.data(), eps_);
  }

  weight_type weight_, bias_;
  float eps_;
  std::string path_;
};

}  // namespace imbrex::inline IMBREX_ABI
