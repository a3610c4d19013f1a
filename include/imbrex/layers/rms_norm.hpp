// Root-mean-square norm (Zhang, Sennrich: "Root Mean Square Layer Normalization", 2019).
#pragma once

#include "imbrex/kernels/rms_norm.hpp"
#include "imbrex/layers/norm.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What a norm adds to the mean square before the root, and to its weight.
struct NormOptions {
  float eps = 1e-5f;
  float weight_offset = 0;  ///< 1 where the checkpoint stores w - 1 (Gemma outside GGUF)

  /// What Norm asks of its kernel.
  static constexpr const char* other_axis = "rms_norm(x): the last axis of x must be the norm's";

  /// Norms the rows of x into y.
  void run(const kernels::Rows& y, const kernels::ConstRows& x, const float* weight) const {
    kernels::rms_norm(y, x, weight, eps, weight_offset);
  }
};

/// Over the axis (or axes) A, the last of x: y = x / sqrt(mean(x^2) + eps) * (offset + w); the mean
/// is taken in f32 or better. [..., A] to [..., A].
template <class A>
class RMSNorm : public Norm<NormOptions, A> {
  using Base = Norm<NormOptions, A>;

 public:
  using typename Base::weight_type;

  /// Throws ConfigError where eps is negative or no number.
  explicit RMSNorm(weight_type weight, const NormOptions& options = {}, std::string path = {})
      : Base(options, std::move(weight), std::move(path)) {
    check_eps(options.eps);
  }

  /// The same norm with other sizes of the same axes. Throws ShapeError where the sizes differ.
  template <class B>
    requires(!std::is_same_v<A, B> && axes_agree<list_of<B>, list_of<A>>)
  explicit RMSNorm(const RMSNorm<B>& other)
      : Base(other.options(), Base::copied(other.weight()), other.path()) {}

  /// What is added to mean square and weight.
  const NormOptions& options() const { return this->kernel(); }
};

}  // namespace imbrex::inline IMBREX_ABI
