// One tensor of a GGUF file: what the file says of it, and where its bytes are.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/formats/gguf_type.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The most axes a tensor of a GGUF file has.
inline constexpr int gguf_max_rank = 4;

/// A tensor of a file. `dims` is in the file's order, the contiguous axis first (a matrix of 576
/// inputs and 1536 outputs is 576 x 1536); the axes from `rank` on have size 1. `name` and `data`
/// point into the file's bytes; `data` may have any alignment, and is null when `bytes` is 0.
struct GgufTensor {
  std::string_view name;
  GgufType type = GgufType::f32;
  int rank = 0;
  std::array<index_t, gguf_max_rank> dims{1, 1, 1, 1};
  index_t offset = 0;  ///< of the first byte, from the start of the file
  index_t bytes = 0;
  const std::byte* data = nullptr;

  /// The format to compute with; nothing where the library does not know how.
  std::optional<Dtype> dtype() const { return to_dtype(type); }

  /// How many numbers there are: the product of `dims`.
  index_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }

  /// "[576, 1536]".
  std::string shape() const {
    std::string text = "[";
    for (int i = 0; i < rank; ++i) {
      text += (i > 0 ? ", " : "") + std::to_string(dims[static_cast<std::size_t>(i)]);
    }
    return text + "]";
  }
};

/// Bytes of a tensor of `dims`; -1 where rows are not whole blocks, a product overflows, or there
/// is no such type.
constexpr index_t gguf_tensor_bytes(GgufType type, const std::array<index_t, 4>& dims) {
  const GgufTypeTraits& t = traits(type);
  index_t numbers = 1, bytes = 0;
  for (const index_t dim : dims) {
    if (!multiply_fits(numbers, dim, numbers)) return -1;
  }
  if (t.block == 0 || dims[0] % t.block != 0) return -1;
  return multiply_fits(numbers / t.block, t.bytes, bytes) ? bytes : -1;
}

}  // namespace imbrex::inline IMBREX_ABI
