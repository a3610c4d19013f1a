#include "imbrex/kernels/embedding.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "imbrex/base/f16.hpp"
#include "imbrex/kernels/reference/embedding.hpp"
#include "tests/support/compare.hpp"

using namespace imbrex;
using namespace imbrex::tests;

TEST_CASE("embed: rows of a half-precision table, in any order and repeated") {
  const f16 table[] = {to_f16(0.5f), to_f16(-1), to_f16(2), to_f16(3.25f), to_f16(0), to_f16(-8)};
  const std::int32_t ids[] = {2, 0, 2, 1};
  std::vector<float> y(4 * 3, 7.0f);
  kernels::embed({y.data(), 4, 2, 3}, ids,
                 {reinterpret_cast<const std::byte*>(table), Dtype::f16, 3, 2, 4});
  CHECK(y == std::vector<float>{0, -8, 7, 0.5f, -1, 7, 0, -8, 7, 2, 3.25f, 7});
}

TEST_CASE("embed: every format, the bits of the reference on any number of threads") {
  for (int d = 0; d < dtype_count; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    const index_t rows = 9, cols = 768, bytes = row_bytes(dtype, cols);
    Random random(1);
    std::vector<std::byte> table(static_cast<std::size_t>(rows * bytes));
    // With bit 6 clear in every byte, a scale is finite wherever it lies.
    for (std::byte& b : table) b = static_cast<std::byte>(random() & 0xBFu);
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 100; ++i) ids.push_back(static_cast<std::int32_t>(random() % 9));
    const kernels::Matrix matrix{table.data(), dtype, rows, cols, bytes};
    std::vector<float> want(100 * 768);
    kernels::reference::embed({want.data(), 100, cols, cols}, ids.data(), matrix);
    for (const int threads : {1, 2, 3, 8}) {
      set_threads(threads);
      std::vector<float> got(want.size());
      kernels::embed({got.data(), 100, cols, cols}, ids.data(), matrix);
      CHECK(different_bits(got, want) == "");
    }
    set_threads(0);
  }
}
