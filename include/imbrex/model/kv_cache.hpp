// The keys and values of one sequence, so that a new token costs one row and not the whole
// sequence.
#pragma once

#include <utility>

#include "imbrex/layers/cached_heads.hpp"
#include "imbrex/model/config_check.hpp"
#include "imbrex/tensor/buffer.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Keys (turned by position) and values of up to `capacity()` positions, for each layer [K, Keys,
/// d] in f32, f16 or bf16: 2 * layers * K * d numbers a position. Memory is asked for at
/// construction, and used as positions are. A forward pass appends to it, rounding to nearest;
/// `length()` grows only when the pass succeeds.
class KvCache {
 public:
  /// Throws CapacityError where `capacity` positions do not fit, ShapeError for a negative
  /// capacity, ConfigError for another format.
  KvCache(const Config& config, index_t capacity, Dtype dtype = Dtype::f32)
      : layers_(config.dims.layers),
        kv_heads_(config.dims.kv_heads),
        head_dim_(config.dims.head_dim),
        capacity_(capacity),
        dtype_(checked(dtype)),
        buffer_(bytes_of(config.dims, capacity, dtype)) {}

  /// A cache that was moved from has no layers and no room: every use of it is an error.
  KvCache(KvCache&& other) noexcept
      : layers_(std::exchange(other.layers_, 0)),
        kv_heads_(std::exchange(other.kv_heads_, 0)),
        head_dim_(std::exchange(other.head_dim_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        length_(std::exchange(other.length_, 0)),
        dtype_(other.dtype_),
        buffer_(std::move(other.buffer_)) {}
  KvCache& operator=(KvCache&& other) noexcept {
    KvCache taken(std::move(other));
    layers_ = taken.layers_;
    kv_heads_ = taken.kv_heads_;
    head_dim_ = taken.head_dim_;
    capacity_ = taken.capacity_;
    length_ = taken.length_;
    dtype_ = taken.dtype_;
    buffer_ = std::move(taken.buffer_);
    return *this;
  }

  /// How full it is, in positions, and its size in bytes.
  index_t length() const { return length_; }      ///< positions held
  index_t capacity() const { return capacity_; }  ///< positions there is room for
  index_t room() const { return capacity_ - length_; }
  index_t bytes() const { return buffer_.size(); }

  /// How numbers are kept.
  Dtype dtype() const { return dtype_; }

  /// The sizes of the decoder that it is for.
  index_t layers() const { return layers_; }
  index_t kv_heads() const { return kv_heads_; }
  index_t head_dim() const { return head_dim_; }

  /// Forgets all positions from `length` on. Throws CapacityError where there are fewer.
  void truncate(index_t length) {
    if (length < 0 || length > length_) {
      raise(CapacityError("truncate: expected a length from 0 to " + std::to_string(length_) +
                          ", got " + std::to_string(length)));
    }
    length_ = length;
  }
  void clear() { length_ = 0; }

  /// Keys, and values, of a layer at the first `count` positions: [KvHeads, Keys, HeadDim]. Those
  /// from `length()` on are what a pass fills. Throws ShapeError for a layer that there is not,
  /// CapacityError for more positions than `capacity()`.
  CachedHeads cached_keys(index_t layer, index_t count) { return cached(layer, 0, count); }
  CachedHeads cached_values(index_t layer, index_t count) { return cached(layer, 1, count); }

  /// The same as floats. Throws ConfigError besides, where they are not kept in f32.
  View<float, KvHeads<>, Keys<>, HeadDim<>> keys(index_t layer, index_t count) {
    return positions(floats(), layer, 0, count);
  }
  View<float, KvHeads<>, Keys<>, HeadDim<>> values(index_t layer, index_t count) {
    return positions(floats(), layer, 1, count);
  }
  View<const float, KvHeads<>, Keys<>, HeadDim<>> keys(index_t layer, index_t count) const {
    return positions(floats(), layer, 0, count);
  }
  View<const float, KvHeads<>, Keys<>, HeadDim<>> values(index_t layer, index_t count) const {
    return positions(floats(), layer, 1, count);
  }

  /// Counts `count` more positions as held: what a forward pass does once it has filled them.
  /// Throws CapacityError where they do not fit.
  void append(index_t count) {
    if (count < 0 || count > room()) {
      raise(CapacityError("append: expected 0 to " + std::to_string(room()) + " positions, got " +
                          std::to_string(count)));
    }
    length_ += count;
  }

 private:
  static Dtype checked(Dtype dtype) {
    if (dtype != Dtype::f32 && dtype != Dtype::f16 && dtype != Dtype::bf16) {
      raise(ConfigError("cache", name(dtype), "F32, F16 or BF16"));
    }
    return dtype;
  }

  static index_t bytes_of(const Dims& dims, index_t capacity, Dtype dtype) {
    if (capacity < 0) {
      raise(ShapeError("cache: expected a capacity of 0 or more, got " + std::to_string(capacity)));
    }
    for (const DimsField& field : dims_fields) {
      if (dims.*field.size == dyn) config_check::fail_dynamic(field.name);
    }
    index_t product = 2 * traits(dtype).bytes;
    for (const index_t size : {dims.layers, dims.kv_heads, capacity, dims.head_dim}) {
      if (!multiply_fits(product, size, product)) {
        raise(CapacityError("cache: the bytes of " + std::to_string(capacity) +
                            " positions cannot be counted"));
      }
    }
    return product;
  }

  const float* floats() const {
    if (dtype_ != Dtype::f32)
      raise(ConfigError("cache", name(dtype_), "F32, to be seen as floats"));
    return reinterpret_cast<const float*>(buffer_.data());
  }
  float* floats() { return const_cast<float*>(std::as_const(*this).floats()); }

  /// The first number of a layer's keys (what = 0) or values (what = 1).
  index_t first(index_t layer, index_t what, index_t count) const {
    if (layer < 0 || layer >= layers_) fail_layer_index(layer);
    if (count < 0 || count > capacity_) fail_count(count);
    return (2 * layer + what) * kv_heads_ * capacity_ * head_dim_;
  }

  CachedHeads cached(index_t layer, index_t what, index_t count) {
    return {dtype_,    buffer_.data() + first(layer, what, count) * traits(dtype_).bytes,
            kv_heads_, count,
            head_dim_, capacity_ * head_dim_,
            head_dim_};
  }

  template <class T>
  View<T, KvHeads<>, Keys<>, HeadDim<>> positions(T* data, index_t layer, index_t what,
                                                  index_t count) const {
    T* from = data + first(layer, what, count);
    const index_t strides[] = {capacity_ * head_dim_, head_dim_, 1};
    const Shape<KvHeads<>, Keys<>, HeadDim<>> shape{KvHeads<>(kv_heads_), Keys<>(count),
                                                    HeadDim<>(head_dim_)};
    return {from, shape, strides};
  }

  [[noreturn, gnu::cold, gnu::noinline]] void fail_layer_index(index_t layer) const {
    raise(ShapeError("cache: expected a layer below " + std::to_string(layers_) + ", got " +
                     std::to_string(layer)));
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_count(index_t count) const {
    raise(CapacityError("cache: expected 0 to " + std::to_string(capacity_) + " positions, got " +
                        std::to_string(count)));
  }

  index_t layers_, kv_heads_, head_dim_, capacity_, length_ = 0;
  Dtype dtype_;
  Buffer<std::byte> buffer_;
};

}  // namespace imbrex::inline IMBREX_ABI
