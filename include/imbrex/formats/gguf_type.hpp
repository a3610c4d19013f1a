// The tensor types of GGUF files. All of them are known by name, block and bytes, so that a
// file's sizes can be checked whether or not the library computes with a type.
#pragma once

#include <cstdint>
#include <optional>

#include "imbrex/base/dtype.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// How a tensor is stored, by the number that stands in the file (ggml's `ggml_type`).
enum class GgufType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q8_1 = 9,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  q8_k = 15,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41
};

/// One past the largest number in use.
inline constexpr std::uint32_t gguf_type_end = 42;

/// `block` numbers take `bytes` bytes. A block of 0 marks a number that stands for no type: 4, 5,
/// 31 to 33 and 36 to 38 were types once and have been withdrawn from the format.
struct GgufTypeTraits {
  const char* name;
  index_t block;
  index_t bytes;
};

namespace gguf_type {

inline constexpr GgufTypeTraits withdrawn{"withdrawn", 0, 0}, unknown{"unknown", 0, 0};

inline constexpr GgufTypeTraits table[gguf_type_end] = {{"F32", 1, 4},
                                                        {"F16", 1, 2},
                                                        {"Q4_0", 32, 18},
                                                        {"Q4_1", 32, 20},
                                                        withdrawn,
                                                        withdrawn,
                                                        {"Q5_0", 32, 22},
                                                        {"Q5_1", 32, 24},
                                                        {"Q8_0", 32, 34},
                                                        {"Q8_1", 32, 36},
                                                        {"Q2_K", 256, 84},
                                                        {"Q3_K", 256, 110},
                                                        {"Q4_K", 256, 144},
                                                        {"Q5_K", 256, 176},
                                                        {"Q6_K", 256, 210},
                                                        {"Q8_K", 256, 292},
                                                        {"IQ2_XXS", 256, 66},
                                                        {"IQ2_XS", 256, 74},
                                                        {"IQ3_XXS", 256, 98},
                                                        {"IQ1_S", 256, 50},
                                                        {"IQ4_NL", 32, 18},
                                                        {"IQ3_S", 256, 110},
                                                        {"IQ2_S", 256, 82},
                                                        {"IQ4_XS", 256, 136},
                                                        {"I8", 1, 1},
                                                        {"I16", 1, 2},
                                                        {"I32", 1, 4},
                                                        {"I64", 1, 8},
                                                        {"F64", 1, 8},
                                                        {"IQ1_M", 256, 56},
                                                        {"BF16", 1, 2},
                                                        withdrawn,
                                                        withdrawn,
                                                        withdrawn,
                                                        {"TQ1_0", 256, 54},
                                                        {"TQ2_0", 256, 66},
                                                        withdrawn,
                                                        withdrawn,
                                                        withdrawn,
                                                        {"MXFP4", 32, 17},
                                                        {"NVFP4", 64, 36},
                                                        {"Q1_0", 128, 18}};

struct Pair {
  GgufType stored;
  Dtype dtype;
};

/// The types the library computes with.
inline constexpr Pair pairs[dtype_count] = {
    {GgufType::f32, Dtype::f32},   {GgufType::f16, Dtype::f16},   {GgufType::bf16, Dtype::bf16},
    {GgufType::q4_0, Dtype::q4_0}, {GgufType::q4_1, Dtype::q4_1}, {GgufType::q5_0, Dtype::q5_0},
    {GgufType::q5_1, Dtype::q5_1}, {GgufType::q8_0, Dtype::q8_0}, {GgufType::q2_k, Dtype::q2_k},
    {GgufType::q3_k, Dtype::q3_k}, {GgufType::q4_k, Dtype::q4_k}, {GgufType::q5_k, Dtype::q5_k},
    {GgufType::q6_k, Dtype::q6_k}};

}  // namespace gguf_type

/// Whether `number`, as read from a file, stands for a type.
constexpr bool is_gguf_type(std::uint32_t number) {
  return number < gguf_type_end && gguf_type::table[number].block != 0;
}

/// Name and block of a type; blocks of 0 where there is no such type.
constexpr const GgufTypeTraits& traits(GgufType type) {
  const std::uint32_t number = static_cast<std::uint32_t>(type);
  return number < gguf_type_end ? gguf_type::table[number] : gguf_type::unknown;
}

/// The name of a type: "Q4_0".
constexpr const char* name(GgufType type) { return traits(type).name; }

/// The format to compute with; nothing where the library does not know how.
constexpr std::optional<Dtype> to_dtype(GgufType type) {
  for (const auto& pair : gguf_type::pairs) {
    if (pair.stored == type) return pair.dtype;
  }
  return std::nullopt;
}

/// The number by which a file says `dtype`.
constexpr GgufType to_gguf_type(Dtype dtype) {
  for (const auto& pair : gguf_type::pairs) {
    if (pair.dtype == dtype) return pair.stored;
  }
  return GgufType::f32;
}

// Both tables must give a format the same block.
static_assert([] {
  for (const auto& [stored, dtype] : gguf_type::pairs) {
    if (traits(stored).block != traits(dtype).block) return false;
    if (traits(stored).bytes != traits(dtype).bytes) return false;
  }
  return true;
}());

}  // namespace imbrex::inline IMBREX_ABI
