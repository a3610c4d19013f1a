// What kernels take: plain structs of pointer, counts, stride and dtype. No axes, no ownership;
// sizes were checked by the layer that calls.
#pragma once

#include <cstddef>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// `rows` rows of `cols` contiguous floats, `stride` floats apart, read only.
struct ConstRows {
  const float* data;
  index_t rows, cols, stride;

  /// The first element of row i.
  constexpr const float* row(index_t i) const { return data + i * stride; }
};

/// The same, to be written.
struct Rows {
  float* data;
  index_t rows, cols, stride;

  /// The first element of row i; and the same rows, read only.
  constexpr float* row(index_t i) const { return data + i * stride; }
  constexpr operator ConstRows() const { return {data, rows, cols, stride}; }
};

/// A stored weight matrix: `rows` rows (outputs) of `cols` numbers (inputs) in `dtype`, each row
/// `row_bytes` bytes after the one before. `data` may have any alignment.
struct Matrix {
  const std::byte* data;
  Dtype dtype;
  index_t rows, cols, row_bytes;

  /// The first byte of row i.
  constexpr const std::byte* row(index_t i) const { return data + i * row_bytes; }
};

/// [rows][heads][head_dim] floats with contiguous head_dim: activations split into heads. Read
/// only.
struct ConstHeads {
  const float* data;
  index_t rows, heads, head_dim, row_stride, head_stride;

  /// The first element of a head.
  constexpr const float* at(index_t row, index_t head) const {
    return data + row * row_stride + head * head_stride;
  }
};

/// The same, to be written.
struct Heads {
  float* data;
  index_t rows, heads, head_dim, row_stride, head_stride;

  /// The first element of a head; and the same heads, read only.
  constexpr float* at(index_t row, index_t head) const {
    return data + row * row_stride + head * head_stride;
  }
  constexpr operator ConstHeads() const {
    return {data, rows, heads, head_dim, row_stride, head_stride};
  }
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
