#include "imbrex/base/dtype.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace imbrex;

TEST_CASE("blocks are those of the formats' definitions") {
  // Bytes of a block from its fields: scales are halves (2 bytes), quants packed.
  struct Case {
    Dtype dtype;
    const char* name;
    index_t block, bytes;
  };
  const Case cases[] = {
      {Dtype::f32, "F32", 1, 4},
      {Dtype::f16, "F16", 1, 2},
      {Dtype::bf16, "BF16", 1, 2},
      {Dtype::q4_0, "Q4_0", 32, 2 + 32 / 2},
      {Dtype::q4_1, "Q4_1", 32, 2 + 2 + 32 / 2},
      {Dtype::q5_0, "Q5_0", 32, 2 + 32 / 8 + 32 / 2},
      {Dtype::q5_1, "Q5_1", 32, 2 + 2 + 32 / 8 + 32 / 2},
      {Dtype::q8_0, "Q8_0", 32, 2 + 32},
      {Dtype::q2_k, "Q2_K", 256, 256 / 16 + 256 / 4 + 2 + 2},
      {Dtype::q3_k, "Q3_K", 256, 256 / 8 + 256 / 4 + 12 + 2},
      {Dtype::q4_k, "Q4_K", 256, 2 + 2 + 12 + 256 / 2},
      {Dtype::q5_k, "Q5_K", 256, 2 + 2 + 12 + 256 / 8 + 256 / 2},
      {Dtype::q6_k, "Q6_K", 256, 256 / 2 + 256 / 4 + 256 / 16 + 2},
  };
  CHECK(std::size(cases) == dtype_count);
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(name(c.dtype) == std::string(c.name));
    CHECK(traits(c.dtype).block == c.block);
    CHECK(traits(c.dtype).bytes == c.bytes);
    CHECK(row_bytes(c.dtype, 3 * c.block) == 3 * c.bytes);
    CHECK(row_bytes(c.dtype, 0) == 0);
    if (c.block > 1) CHECK(row_bytes(c.dtype, c.block + 1) == -1);
  }
}

TEST_CASE("a number that stands for no format has no rows") {
  for (const int number : {static_cast<int>(dtype_count), 99, 255}) {
    const Dtype none = static_cast<Dtype>(number);
    CHECK_FALSE(is_dtype(none));
    CHECK(name(none) == std::string("unknown"));
    CHECK(row_bytes(none, 0) == -1);
    CHECK(row_bytes(none, 256) == -1);
  }
}

TEST_CASE("rows that cannot be counted") {
  const index_t top = (std::numeric_limits<index_t>::max)();
  CHECK(row_bytes(Dtype::f32, -4) == -1);
  CHECK(row_bytes(Dtype::f32, top / 4) == top / 4 * 4);
  CHECK(row_bytes(Dtype::f32, top / 4 + 1) == -1);
  CHECK(row_bytes(Dtype::q8_0, top / 32 * 32) == -1);
}
