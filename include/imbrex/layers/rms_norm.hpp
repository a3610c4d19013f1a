// Root-mean-square norm (Zhang, Sennrich: "Root Mean Square Layer Normalization", 2019).
#pragma once

#include "imbrex/kernels/rms_norm.hpp"
#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What a norm adds to the mean square before the root, and to its weight.
struct NormOptions {
  float eps = 1e-5f;
  float weight_offset = 0;  ///< 1 where the checkpoint stores w - 1 (Gemma outside GGUF)
};

/// Over the axis (or axes) A, the last of x: y = x / sqrt(mean(x^2) + eps) * (offset + w); the mean
/// is taken in f32. [..., A] to [..., A].
template <class A>
class RMSNorm {
 public:
  using axes = list_of<A>;
  using weight_type = tensor_of<float, axes>;

  using input_type = float;
  template <class List>
  static constexpr bool accepts_axes = axes_end_with<List, axes>;

  explicit RMSNorm(weight_type weight, const NormOptions& options = {}, std::string path = {})
      : weight_(std::move(weight)), options_(options), path_(std::move(path)) {}

  /// The same norm with other sizes of the same axes. Throws ShapeError where the sizes differ.
  template <class B>
    requires(!std::is_same_v<A, B> && axes_agree<list_of<B>, axes>)
  explicit RMSNorm(const RMSNorm<B>& other)
      : RMSNorm(copied(other.weight()), other.options(), other.path()) {}

  /// Returns the normalised x. Throws ShapeError.
  template <TensorLike X>
  auto operator()(const X& x) const {
    static_assert(axes_agree<tail_of<X, A>, A>,
                  "rms_norm(x): the last axis of x must be the norm's");
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
                  "rms_norm.into(y, x): the last axis of x must be the norm's");
    static_assert(axes_agree<axes_of<Y>, mapped_axes<X, A, A>>,
                  "rms_norm.into(y, x): y must have the axes of x");
    apply(ConstOperand::of(x), MutableOperand::of(y));
  }

  const weight_type& weight() const { return weight_; }
  const NormOptions& options() const { return options_; }
  const std::string& path() const { return path_; }

 private:
  template <class Other>
  static weight_type copied(const Other& weight) {
    index_t sizes[Other::rank + 1] = {};
    weight.shape().copy_sizes(sizes);
    weight_type copy(weight_type::shape_type::from_sizes(sizes));
    std::memcpy(copy.data(), weight.data(),
                static_cast<std::size_t>(weight.count()) * sizeof(float));
    return copy;
  }

  void apply(const ConstOperand& x, const MutableOperand& y) const {
    constexpr index_t rank = list_size<axes>;
    const auto w = ConstOperand::of(weight_);
    check_tail(x, w.sizes, rank, path_, "rms_norm(x): the last axis of x must be the norm's",
               w.ref("weight"));
    check_lead(x, y, x.rank, path_);
    const RowsOperand rows(x, rank);
    kernels::rms_norm(rows_into(y, rank, path_), rows.rows(), weight_.data(), options_.eps,
                      options_.weight_offset);
  }

  weight_type weight_;
  NormOptions options_;
  std::string path_;
};

}  // namespace imbrex::inline IMBREX_ABI
