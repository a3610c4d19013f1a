// Keys or values that a sequence keeps, in the format it keeps them in.
#pragma once

#include <concepts>
#include <cstring>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/stored_floats.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// [KvHeads, Keys, HeadDim] numbers in f32, f16 or bf16; does not own them. Floats are rounded to
/// nearest, ties to even, as they are written; f32 keeps them.
class CachedHeads {
 public:
  CachedHeads() = default;

  /// What an f32 cache is seen as.
  using Floats = View<float, KvHeads<>, Keys<>, HeadDim<>>;

  /// Floats of whatever sizes.
  template <std::convertible_to<Floats> V>
  CachedHeads(const V& view) {
    const Floats floats = view;
    *this = {Dtype::f32,     floats.data(),    floats.size(0),  floats.size(1),
             floats.size(2), floats.stride(0), floats.stride(1)};
    dense_ = floats.stride(2) == 1 || floats.size(2) <= 1;
  }

  /// `data` points to numbers of `dtype`; strides are in numbers.
  CachedHeads(Dtype dtype, void* data, index_t heads, index_t keys, index_t width,
              index_t head_stride, index_t key_stride)
      : data_(data), sizes_{heads, keys, width}, strides_{head_stride, key_stride}, dtype_(dtype) {}

  /// How numbers are stored.
  Dtype dtype() const { return dtype_; }
  /// The size of axis i of [KvHeads, Keys, HeadDim]; numbers from a head, and from a key, to the
  /// next; and whether the numbers of a key lie side by side.
  index_t size(index_t i) const { return sizes_[i]; }
  index_t stride(index_t i) const { return strides_[i]; }
  bool dense() const { return dense_; }

  /// All of them, as kernels read them.
  kernels::StoredFloats numbers() const {
    if (dtype_ == Dtype::f16) return static_cast<const f16*>(data_);
    if (dtype_ == Dtype::bf16) return static_cast<const bf16*>(data_);
    return static_cast<const float*>(data_);
  }

  /// One of them.
  float operator()(index_t head, index_t key, index_t i) const {
    return numbers()[head * strides_[0] + key * strides_[1] + i];
  }

  /// Stores the numbers of a key.
  void write(index_t head, index_t key, const float* from) const {
    const index_t at = head * strides_[0] + key * strides_[1], n = sizes_[2];
    if (dtype_ == Dtype::f16) {
      f16* to = static_cast<f16*>(data_) + at;
      for (index_t i = 0; i < n; ++i) to[i] = to_f16(from[i]);
    } else if (dtype_ == Dtype::bf16) {
      bf16* to = static_cast<bf16*>(data_) + at;
      for (index_t i = 0; i < n; ++i) to[i] = to_bf16(from[i]);
    } else if (n > 0) {
      std::memcpy(static_cast<float*>(data_) + at, from,
                  static_cast<std::size_t>(n) * sizeof(float));
    }
  }

 private:
  void* data_ = nullptr;
  index_t sizes_[3] = {}, strides_[2] = {};
  Dtype dtype_ = Dtype::f32;
  bool dense_ = true;
};

}  // namespace imbrex::inline IMBREX_ABI
