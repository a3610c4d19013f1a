// The table of tensor types against the sizes of ggml's block structs (ggml-common.h), worked from
// their members.
#include "imbrex/formats/gguf_type.hpp"

#include <doctest/doctest.h>

#include <string>

#include "imbrex/formats/gguf_tensor.hpp"

using namespace imbrex;

namespace {

struct Row {
  std::uint32_t number;
  const char* name;
  index_t block, bytes;
};

constexpr Row rows[] = {
    {0, "F32", 1, 4},
    {1, "F16", 1, 2},
    {2, "Q4_0", 32, 2 + 16},
    {3, "Q4_1", 32, 2 * 2 + 16},
    {6, "Q5_0", 32, 2 + 4 + 16},
    {7, "Q5_1", 32, 2 * 2 + 4 + 16},
    {8, "Q8_0", 32, 2 + 32},
    {9, "Q8_1", 32, 2 * 2 + 32},
    {10, "Q2_K", 256, 16 + 64 + 2 * 2},
    {11, "Q3_K", 256, 32 + 64 + 12 + 2},
    {12, "Q4_K", 256, 2 * 2 + 12 + 128},
    {13, "Q5_K", 256, 2 * 2 + 12 + 32 + 128},
    {14, "Q6_K", 256, 128 + 64 + 16 + 2},
    {15, "Q8_K", 256, 4 + 256 + 16 * 2},
    {16, "IQ2_XXS", 256, 2 + 32 * 2},
    {17, "IQ2_XS", 256, 2 + 32 * 2 + 8},
    {18, "IQ3_XXS", 256, 2 + 3 * 32},
    {19, "IQ1_S", 256, 2 + 32 + 8 * 2},
    {20, "IQ4_NL", 32, 2 + 16},
    {21, "IQ3_S", 256, 2 + 64 + 8 + 32 + 4},
    {22, "IQ2_S", 256, 2 + 64 + 8 + 8},
    {23, "IQ4_XS", 256, 2 + 2 + 4 + 128},
    {24, "I8", 1, 1},
    {25, "I16", 1, 2},
    {26, "I32", 1, 4},
    {27, "I64", 1, 8},
    {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 32 + 16 + 8},
    {30, "BF16", 1, 2},
    {34, "TQ1_0", 256, 48 + 4 + 2},
    {35, "TQ2_0", 256, 64 + 2},
    {39, "MXFP4", 32, 1 + 16},
    {40, "NVFP4", 64, 4 + 32},
    {41, "Q1_0", 128, 2 + 16},
};

}  // namespace

TEST_CASE("every type has its number, name, block and bytes; no other number is one") {
  std::uint32_t next = 0;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    for (; next < row.number; ++next) CHECK_FALSE(is_gguf_type(next));
    CHECK(is_gguf_type(next++));
    const auto type = static_cast<GgufType>(row.number);
    CHECK(std::string(name(type)) == row.name);
    CHECK(traits(type).block == row.block);
    CHECK(traits(type).bytes == row.bytes);
  }
  for (; next < 1000; ++next) CHECK_FALSE(is_gguf_type(next));
  CHECK_FALSE(is_gguf_type(0xFFFFFFFFu));
}

TEST_CASE("types and the formats to compute with are the same by name") {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    CHECK(std::string(name(to_gguf_type(dtype))) == name(dtype));
    CHECK(to_dtype(to_gguf_type(dtype)) == dtype);
  }
  CHECK_FALSE(to_dtype(GgufType::iq4_xs).has_value());
  CHECK_FALSE(to_dtype(GgufType::i32).has_value());
}

TEST_CASE("bytes of a tensor") {
  constexpr index_t big = index_t{1} << 31;
  CHECK(gguf_tensor_bytes(GgufType::f32, {3, 2, 1, 1}) == 24);
  CHECK(gguf_tensor_bytes(GgufType::q4_k, {512, 3, 2, 1}) == 2 * 3 * 2 * 144);
  CHECK(gguf_tensor_bytes(GgufType::q4_k, {128, 2, 1, 1}) == -1);
  CHECK(gguf_tensor_bytes(GgufType::f32, {big, big, 1, 1}) == -1);  // 2^62 numbers, 2^64 bytes
  CHECK(gguf_tensor_bytes(GgufType::i8, {big, big, 1, 1}) == big * big);
  CHECK(gguf_tensor_bytes(GgufType::i8, {big, big, 4, 1}) == -1);
  CHECK(gguf_tensor_bytes(GgufType::i8, {-1, 1, 1, 1}) == -1);
  CHECK(gguf_tensor_bytes(GgufType::f32, {0, 7, 1, 1}) == 0);
  for (const std::uint32_t none : {4u, 42u, 1000u, 0xFFFFFFFFu}) {
    CHECK(gguf_tensor_bytes(static_cast<GgufType>(none), {32, 1, 1, 1}) == -1);
  }
  CHECK(std::string(name(static_cast<GgufType>(1000u))) == "unknown");
}
