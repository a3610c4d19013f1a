// Floats as they are stored, in 32 or 16 bits.
#pragma once

#include <cstddef>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/dtype.hpp"
#include "imbrex/base/f16.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Numbers in f32, f16 or bf16, read only. A number in 16 bits is a float exactly.
class StoredFloats {
 public:
  constexpr StoredFloats() = default;
  constexpr StoredFloats(const float* numbers) : f32_(numbers) {}
  constexpr StoredFloats(const f16* numbers) : f16_(numbers), dtype_(Dtype::f16) {}
  constexpr StoredFloats(const bf16* numbers) : bf16_(numbers), dtype_(Dtype::bf16) {}

  /// How they are stored.
  constexpr Dtype dtype() const { return dtype_; }

  /// Number i.
  constexpr float operator[](index_t i) const {
    if (dtype_ == Dtype::f16) return to_float(f16_[i]);
    if (dtype_ == Dtype::bf16) return to_float(bf16_[i]);
    return f32_[i];
  }

  /// The bytes from number i on.
  const std::byte* at(index_t i) const {
    if (dtype_ == Dtype::f16) return reinterpret_cast<const std::byte*>(f16_ + i);
    if (dtype_ == Dtype::bf16) return reinterpret_cast<const std::byte*>(bf16_ + i);
    return reinterpret_cast<const std::byte*>(f32_ + i);
  }

  /// The numbers from i on.
  constexpr StoredFloats from(index_t i) const {
    if (dtype_ == Dtype::f16) return f16_ + i;
    if (dtype_ == Dtype::bf16) return bf16_ + i;
    return f32_ + i;
  }

 private:
  const float* f32_ = nullptr;
  const f16* f16_ = nullptr;
  const bf16* bf16_ = nullptr;
  Dtype dtype_ = Dtype::f32;
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
