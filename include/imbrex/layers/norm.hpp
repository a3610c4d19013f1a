// What norms have in common: the public face over a row-wise kernel.
#pragma once

#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Throws ConfigError where eps, which norms add under their root, is negative or no number.
inline void check_eps(float eps) {
  if (!(eps >= 0)) raise(ConfigError("eps", std::to_string(eps), "0 or a positive number"));
}

/// Maps [..., A] to [..., A], each row by itself. A is the last axis of x, or a list of the last
/// axes. Kernel is the norm: kernel.run(y, x, weight) does the rows, Kernel::other_axis is what
/// errors say of an x that ends otherwise.
template <class Kernel, class A>
class Norm {
 public:
  using axes = list_of<A>;
  using weight_type = tensor_of<float, axes>;

  /// What `accepts` asks of a layer.
  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, axes>;

  /// Returns the normalised x. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x) const {
    static_assert(axes_agree<tail_of<X, A>, A>, "norm(x): the last axis of x must be the norm's");
    using List = mapped_axes<X, A, A>;
    const auto from = ConstOperand::of(x);
    tensor_of<float, List> y(mapped_shape<List>(from, weight_.shape()));
    apply(from, MutableOperand::of(y));
    return y;
  }

  /// Writes into `y`, which may be x itself, and must lie in evenly spaced rows. Allocates nothing
  /// where x's rows are. Throws ShapeError before it writes.
  template <TensorLike Y, TensorLike X>
  void into(Y&& y, const X& x) const {
    static_assert(axes_agree<tail_of<X, A>, A>,
                  "norm.into(y, x): the last axis of x must be the norm's");
    static_assert(axes_agree<axes_of<Y>, mapped_axes<X, A, A>>,
                  "norm.into(y, x): y must have the axes of x");
    apply(ConstOperand::of(x), MutableOperand::of(y));
  }

  /// What rows are multiplied by, and the path in errors.
  const weight_type& weight() const { return weight_; }
  const std::string& path() const { return path_; }

 protected:
  /// For the norms that derive from this.
  Norm(Kernel kernel, weight_type weight, std::string path)
      : kernel_(std::move(kernel)), weight_(std::move(weight)), path_(std::move(path)) {}

  /// What the norm does to a row.
  const Kernel& kernel() const { return kernel_; }

  /// Numbers with other sizes of the same axes. Throws ShapeError where the sizes differ.
  template <class Other>
  static weight_type copied(const Other& numbers) {
    const auto from = ConstOperand::of(numbers);
    weight_type copy(weight_type::shape_type::from_sizes(from.sizes));
    for (index_t i = 0; i < copy.count(); ++i) copy.data()[i] = from.data[i];
    return copy;
  }

 private:
  void apply(const ConstOperand& x, const MutableOperand& y) const {
    constexpr index_t rank = list_size<axes>;
    const auto w = ConstOperand::of(weight_);
    check_tail(x, w.sizes, rank, path_, Kernel::other_axis, w.ref("weight"));
    check_lead(x, y, x.rank, path_);
    const RowsOperand rows(x, rank);
    kernel_.run(rows_into(y, rank, path_), rows.rows(), weight_.data());
  }

  Kernel kernel_;
  weight_type weight_;
  std::string path_;
};

}  // namespace imbrex::inline IMBREX_ABI
