// Layer norm (Ba, Kiros, Hinton: "Layer Normalization", 2016).
#pragma once

#include "imbrex/kernels/layer_norm.hpp"
#include "imbrex/layers/norm.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What a layer norm adds: eps to the variance before the root, a bias in the end.
template <class A>
struct LayerNormKernel {
  tensor_of<float, list_of<A>> bias;
  float eps;

  /// What Norm asks of its kernel.
  static constexpr const char* other_axis = "layer_norm(x): the last axis of x must be the norm's";

  /// Norms the rows of x into y.
  void run(const kernels::Rows& y, const kernels::ConstRows& x, const float* weight) const {
    kernels::layer_norm(y, x, weight, bias.data(), eps);
  }
};

/// Over the axis (or axes) A, the last of x: y = (x - mean(x)) / sqrt(var(x) + eps) * w + b, the
/// variance divided by n; statistics in f32 or better. [..., A] to [..., A].
template <class A>
class LayerNorm : public Norm<LayerNormKernel<A>, A> {
  using Base = Norm<LayerNormKernel<A>, A>;

 public:
  using typename Base::weight_type;

  /// With a weight and a bias. Throws ShapeError where their sizes differ,
  /// ConfigError where eps is negative or no number.
  LayerNorm(weight_type weight, weight_type bias, float eps = 1e-5f, std::string path = {})
      : Base({std::move(bias), eps}, std::move(weight), std::move(path)) {
    const auto w = ConstOperand::of(this->weight()), b = ConstOperand::of(this->bias());
    check_eps(eps);
    if (!(this->weight().shape() == this->bias().shape())) {
      fail_layer(this->path(), "layer_norm: weight and bias must have the same sizes",
                 w.ref("weight"), b.ref("bias"));
    }
  }

  /// The bias, and what is added to the variance.
  const weight_type& bias() const { return this->kernel().bias; }
  float eps() const { return this->kernel().eps; }
};

}  // namespace imbrex::inline IMBREX_ABI
