// Weights: stored matrices, in any format, typed by the axes they map between.
#pragma once

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/owner.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::inline IMBREX_ABI {

template <class Out, class In>
class Weight;

/// A matrix [Out..., In...] as a checkpoint stores it: one row an output, `row_bytes()` bytes
/// apart, its numbers in `dtype()`. The axes are shape; the dtype is known at run time. Shares the
/// owner of its bytes (the map of a file, a buffer). An empty weight has no bytes (`operator
/// bool`).
template <AxisType... Os, AxisType... Is>
class Weight<Axes<Os...>, Axes<Is...>> {
 public:
  using out_axes = Axes<Os...>;
  using in_axes = Axes<Is...>;
  using out_shape = Shape<Os...>;
  using in_shape = Shape<Is...>;

  Weight() = default;
  Weight(const Weight&) = default;
  Weight& operator=(const Weight&) = default;

  /// A weight that was moved from is empty.
  Weight(Weight&& other) noexcept : Weight(static_cast<const Weight&>(other)) { other.release(); }
  Weight& operator=(Weight&& other) noexcept {
    if (this == &other) return *this;
    *this = static_cast<const Weight&>(other);
    other.release();
    return *this;
  }

  /// `bytes` bytes at `data`, kept alive by `owner`. Throws ShapeError when a row is not a whole
  /// number of blocks of the dtype, or when the bytes are not those of the shape; ConfigError when
  /// there is no such dtype.
  Weight(Os... outs, Is... ins, Dtype dtype, const std::byte* data, index_t bytes, Owner owner)
      : Weight(out_shape(outs...), in_shape(ins...), dtype, data, bytes, std::move(owner)) {}

  /// The same from two shapes.
  Weight(const out_shape& out, const in_shape& in, Dtype dtype, const std::byte* data,
         index_t bytes, Owner owner)
      : rows_(out.count()),
        cols_(in.count()),
        row_bytes_(imbrex::row_bytes(dtype, cols_)),
        dtype_(dtype),
        data_(data),
        owner_(std::move(owner)) {
    out.copy_sizes(sizes_);
    in.copy_sizes(sizes_ + sizeof...(Os));
    index_t expected = 0;
    if (row_bytes_ < 0 || !multiply_fits(rows_, row_bytes_, expected) || expected != bytes) {
      fail_bytes(row_bytes_ < 0 ? -1 : expected, bytes);
    }
  }

  /// Takes over a tensor of f32.
  explicit Weight(Tensor<float, Os..., Is...> tensor) : rows_(1), cols_(1), dtype_(Dtype::f32) {
    tensor.shape().copy_sizes(sizes_);
    for (std::size_t i = 0; i < sizeof...(Os); ++i) rows_ *= sizes_[i];
    for (std::size_t i = sizeof...(Os); i < sizeof...(Os) + sizeof...(Is); ++i) cols_ *= sizes_[i];
    row_bytes_ = imbrex::row_bytes(Dtype::f32, cols_);
    data_ = reinterpret_cast<const std::byte*>(tensor.data());
    owner_ = Owner::of(std::move(tensor));
  }

  /// The same weight with other sizes of the same axes. Implicit from static to dynamic sizes;
  /// explicit from dynamic to static, and then checked: ShapeError. An empty weight stays one.
  template <AxisType... Ps, AxisType... Js>
  explicit(!(axes_convert<Axes<Ps...>, out_axes> && axes_convert<Axes<Js...>, in_axes>))
      Weight(const Weight<Axes<Ps...>, Axes<Js...>>& w) {
    static_assert(axes_agree<Axes<Axes<Ps...>, Axes<Js...>>, Axes<out_axes, in_axes>>,
                  "Weight<Out, In>(w): the axes of w must be Out and In");
    if (w.rows() == 0 && w.cols() == 0) return;
    *this =
        Weight(out_shape::from_sizes(w.sizes()), in_shape::from_sizes(w.sizes() + sizeof...(Os)),
               w.dtype(), w.data(), w.bytes(), w.owner());
  }

  /// What it consists of; `row_bytes` lie between the starts of two rows.
  explicit operator bool() const { return data_ != nullptr; }
  Dtype dtype() const { return dtype_; }
  const std::byte* data() const { return data_; }
  index_t rows() const { return rows_; }  ///< outputs
  index_t cols() const { return cols_; }  ///< inputs
  index_t row_bytes() const { return row_bytes_; }
  index_t bytes() const { return rows_ * row_bytes_; }
  const Owner& owner() const { return owner_; }

  /// Sizes of the output axes, then of the input axes.
  const index_t* sizes() const { return sizes_; }
  out_shape out() const { return out_shape::from_sizes(sizes_); }
  in_shape in() const { return in_shape::from_sizes(sizes_ + sizeof...(Os)); }

  /// As errors and printing see it.
  ShapeRef ref(const char* operand) const {
    return {operand, names, sizes_, index_t{sizeof...(Os) + sizeof...(Is)}};
  }

 private:
  void release() {
    data_ = nullptr;
    owner_ = Owner();
  }

  static constexpr const char* names[] = {Os::name..., Is::name...};

  [[noreturn, gnu::cold, gnu::noinline]] void fail_bytes(index_t expected, index_t got) const {
    if (!is_dtype(dtype_)) {
      raise(ConfigError("dtype", std::to_string(static_cast<int>(dtype_)),
                        "0 to " + std::to_string(dtype_count - 1)));
    }
    raise(ShapeError(to_string(ref("weight")) + " in " + name(dtype_) + ": expected " +
                     (expected < 0 ? "rows of whole blocks of " +
                                         std::to_string(traits(dtype_).block) + " numbers"
                                   : std::to_string(expected) + " bytes") +
                     ", got " +
                     (expected < 0 ? "rows of " + std::to_string(cols_) + " numbers"
                                   : std::to_string(got) + " bytes")));
  }

  index_t sizes_[sizeof...(Os) + sizeof...(Is)] = {
      (Os::static_size == dyn ? 0 : Os::static_size)...,
      (Is::static_size == dyn ? 0 : Is::static_size)...};
  index_t rows_ = 0, cols_ = 0, row_bytes_ = 0;
  Dtype dtype_ = Dtype::f32;
  const std::byte* data_ = nullptr;
  Owner owner_;
};

}  // namespace imbrex::inline IMBREX_ABI
