// The linear layer: y = x W^T + b.
#pragma once

#include "imbrex/kernels/matmul.hpp"
#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/weight.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Maps [..., In] to [..., Out]: y[o] = sum_i x[i] w[o, i] + b[o], W stored as the checkpoint has
/// it, in any format. In and Out are an axis each, or lists of axes: Linear<Model<512>,
/// Axes<Heads<8>, HeadDim<64>>> maps [..., Model] to [..., Heads, HeadDim].
template <class In, class Out>
class Linear {
 public:
  using in_axes = list_of<In>;
  using out_axes = list_of<Out>;
  using weight_type = Weight<out_axes, in_axes>;
  using bias_type = tensor_of<float, out_axes>;

  /// What `accepts` asks of a layer.
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes =
      axes_end_with<List, in_axes> &&
      names_differ<join<drop_last<List, list_size<in_axes>>, out_axes>>;

  /// Without weights: calling it is a ShapeError.
  Linear() = default;

  /// `path` is what errors call the layer: "blk.17.ffn_gate".
  explicit Linear(weight_type weight, std::string path = {})
      : weight_(std::move(weight)), path_(std::move(path)) {}

  /// With a bias, one number an output. Throws ShapeError where it has other sizes.
  Linear(weight_type weight, const bias_type& bias, std::string path = {})
      : Linear(std::move(weight), std::move(path)) {
    const auto shape = ConstOperand::of(bias);
    if (!(bias.shape() == weight_.out())) {
      fail_layer(path_, "linear: the bias must have the weight's output axes", shape.ref("bias"),
                 weight_.ref("weight"));
    }
    bias_ = Owner::of(bias);
    bias_data_ = bias_.template get<bias_type>().data();
  }

  /// The same layer with other sizes of the same axes: static to dynamic and back. Shares weight
  /// and bias. Throws ShapeError where the sizes differ.
  template <class In2, class Out2>
    requires(axes_agree<list_of<In2>, in_axes> && axes_agree<list_of<Out2>, out_axes>)
  explicit Linear(const Linear<In2, Out2>& other)
      : weight_(other.weight()),
        bias_(other.bias_owner()),
        bias_data_(other.bias()),
        path_(other.path()) {}

  /// Of other axes: an error, in one sentence. Of the same axes with other sizes: to be converted.
  template <class In2, class Out2>
  Linear& operator=(const Linear<In2, Out2>&) {
    using List = join<list_of<Out2>, list_of<In2>>;
    constexpr bool agrees = axes_agree<List, join<out_axes, in_axes>>;
    static_assert(axes_agree<List, join<out_axes, in_axes>>,
                  "linear = other: the axes of other must be Out and In");
    static_assert(!agrees,
                  "linear = other: convert other to the layer's type, Linear<In, Out>(other)");
    return *this;
  }

  /// Returns y for any x that ends with the input axes. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x) const {
    static_assert(axes_agree<tail_of<X, In>, In>,
                  "linear(x): the last axis of x must be the layer's input axis");
    static_assert(names_differ<joined_axes<X, In, Out>>,
                  "linear(x): the layer's output axis must differ from x's other axes");
    using List = mapped_axes<X, In, Out>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, weight_.out()));
    apply(from, MutableOperand::of(y));
    return y;
  }

  /// Writes y = x W^T + b into `y`, which must not overlap x; x's and y's rows must be evenly
  /// spaced. Allocates nothing where x's rows are. Throws ShapeError before it writes.
  template <TensorLike Y, TensorLike X>
  void into(Y&& y, const X& x) const {
    static_assert(axes_agree<tail_of<X, In>, In>,
                  "linear.into(y, x): the last axis of x must be the layer's input axis");
    static_assert(axes_agree<axes_of<Y>, mapped_axes<X, In, Out>>,
                  "linear.into(y, x): y must have x's axes, the last one the layer's output axis");
    apply(ConstOperand::of(x), MutableOperand::of(y));
  }

  /// The parts, what keeps the bias alive, and the path in errors.
  const weight_type& weight() const { return weight_; }
  const float* bias() const { return bias_data_; }  ///< null where there is none
  const Owner& bias_owner() const { return bias_; }
  const std::string& path() const { return path_; }
  /// Whether it has weights.
  explicit operator bool() const { return static_cast<bool>(weight_); }

  /// Throws ShapeError where the layer has no weights yet.
  void check_weight() const {
    if (!weight_) {
      fail_layer(path_, "linear: the layer has no weights yet", weight_.ref("weight"));
    }
  }

 private:
  static constexpr index_t in_rank = list_size<in_axes>;
  static constexpr index_t out_rank = list_size<out_axes>;

  void apply(const ConstOperand& x, const MutableOperand& y) const {
    const ShapeRef w = weight_.ref("weight");
    if (!weight_) fail_layer(path_, "linear(x): the layer has no weights yet", x.ref("x"), w);
    check_tail(x, weight_.sizes() + out_rank, in_rank, path_,
               "linear(x): the last axis of x must be the layer's input axis", w);
    check_lead(x, y, x.rank - in_rank, path_);
    for (index_t i = 0; i < out_rank; ++i) {
      if (y.sizes[y.rank - out_rank + i] != weight_.sizes()[i]) {
        fail_layer(path_, "linear.into(y, x): y must end with the layer's output axis", y.ref("y"),
                   w);
      }
    }
    const RowsOperand rows(x, in_rank);
    kernels::matmul(
        rows_into(y, out_rank, path_), rows.rows(),
        {weight_.data(), weight_.dtype(), weight_.rows(), weight_.cols(), weight_.row_bytes()},
        bias());
  }

  weight_type weight_;
  Owner bias_;
  const float* bias_data_ = nullptr;
  std::string path_;
};

}  // namespace imbrex::inline IMBREX_ABI
