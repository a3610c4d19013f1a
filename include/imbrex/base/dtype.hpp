// The formats in which weights are stored, and the size of their blocks.
#pragma once

#include <cstdint>

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// How numbers are stored. Quantised formats store a row as blocks that share scales.
enum class Dtype : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k
};

/// How many formats there are.
inline constexpr index_t dtype_count = 13;

/// Name, and the block: `block` numbers take `bytes` bytes.
struct DtypeTraits {
  const char* name;
  index_t block;
  index_t bytes;
};

namespace dtype_detail {
inline constexpr DtypeTraits dtype_traits[dtype_count] = {
    {"F32", 1, 4},     {"F16", 1, 2},      {"BF16", 1, 2},     {"Q4_0", 32, 18},
    {"Q4_1", 32, 20},  {"Q5_0", 32, 22},   {"Q5_1", 32, 24},   {"Q8_0", 32, 34},
    {"Q2_K", 256, 84}, {"Q3_K", 256, 110}, {"Q4_K", 256, 144}, {"Q5_K", 256, 176},
    {"Q6_K", 256, 210}};
inline constexpr DtypeTraits unknown_dtype{"unknown", 0, 0};
}  // namespace dtype_detail

/// Whether the value stands for a format: a cast could have made any other.
constexpr bool is_dtype(Dtype dtype) { return static_cast<int>(dtype) < dtype_count; }

/// Name and block of a format; "unknown" and blocks of 0 where there is no such format.
constexpr const DtypeTraits& traits(Dtype dtype) {
  return is_dtype(dtype) ? dtype_detail::dtype_traits[static_cast<int>(dtype)]
                         : dtype_detail::unknown_dtype;
}

/// The name of a format, as GGUF spells it: "Q4_0".
constexpr const char* name(Dtype dtype) { return traits(dtype).name; }

/// Bytes of a row of `columns` numbers; -1 where the row is not a whole number of blocks, the
/// product overflows, or there is no such format.
constexpr index_t row_bytes(Dtype dtype, index_t columns) {
  const DtypeTraits& t = traits(dtype);
  index_t bytes = -1;
  if (columns < 0 || t.block == 0 || columns % t.block != 0) return -1;
  return multiply_fits(columns / t.block, t.bytes, bytes) ? bytes : -1;
}

}  // namespace imbrex::inline IMBREX_ABI
