// Kernels with more threads than there is work for: the same bits.
#include <doctest/doctest.h>

#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/compare.hpp"

using namespace imbrex;
using namespace imbrex::tests;

TEST_CASE("threads: a matrix of three rows, for 1 to 64 threads, alone and in a team") {
  struct Keep {
    ~Keep() { set_threads(0); }
  } keep;
  // 32768 columns, so that each row is a work item of gemv; few for the product of many rows.
  for (const Dtype dtype : {Dtype::q4_0, Dtype::q8_0, Dtype::f32}) {
    for (const index_t t : {1, 3, 20}) {
      CAPTURE(name(dtype));
      CAPTURE(t);
      const index_t rows = 3, cols = t <= kernels::gemv_most_rows ? 32768 : 512;
      Random random(7);
      std::vector<float> numbers(static_cast<std::size_t>(rows * cols));
      std::vector<float> x(static_cast<std::size_t>(t * cols));
      for (float& v : numbers) v = random.normal();
      for (float& v : x) v = random.normal();
      std::vector<std::byte> w(static_cast<std::size_t>(rows * row_bytes(dtype, cols)));
      kernels::encode(dtype, numbers.data(), rows * cols, w.data());
      const auto product = [&] {
        std::vector<float> y(static_cast<std::size_t>(t * rows), -1.0f);
        kernels::matmul({y.data(), t, rows, rows}, {x.data(), t, cols, cols},
                        {w.data(), dtype, rows, cols, row_bytes(dtype, cols)});
        return y;
      };
      set_threads(1);
      const std::vector<float> one = product();
      for (int threads = 1; threads <= 64; threads += threads < 10 ? 1 : 9) {
        CAPTURE(threads);
        set_threads(threads);
        CHECK(different_bits(product(), one) == "");
        std::vector<float> in_team;
        with_team([&] {
          in_team = product();
          in_team = product();
        });
        CHECK(different_bits(in_team, one) == "");
      }
    }
  }
}
