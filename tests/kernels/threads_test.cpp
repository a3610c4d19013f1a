// Kernels with more threads than there is work for: the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/products.hpp"

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

// A product takes the set and the arithmetic once: it is the one of some choice, whole.
TEST_CASE("threads: sets and arithmetics are chosen while others multiply") {
  const Operands operands(Dtype::q8_0, 40, 256, 20);
  const auto multiply = [](kernels::Rows y, kernels::ConstRows x, const kernels::Matrix& w,
                           const float* bias) { kernels::matmul(y, x, w, bias); };
  const WithSet set(Isa::scalar);
  const WithArithmetic arithmetic(Arithmetic::f32);
  const std::vector<Isa> sets = available_sets();
  for (const index_t rows : {3, 20}) {
    std::vector<std::vector<float>> right;
    for (const Isa isa : sets) {
      for (const Arithmetic a : {Arithmetic::f32, Arithmetic::int8}) {
        use_isa(isa), use_arithmetic(a);
        right.push_back(product(multiply, operands, 0, rows, 40, nullptr));
      }
    }
    std::atomic<bool> done{false};
    std::thread chooses([&] {
      for (std::size_t i = 0; !done; ++i) {
        use_isa(sets[i % sets.size()]);
        use_arithmetic(i / 2 % 2 == 0 ? Arithmetic::f32 : Arithmetic::int8);
      }
    });
    int wrong = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::vector<float> y = product(multiply, operands, 0, rows, 40, nullptr);
      const bool known = std::any_of(right.begin(), right.end(), [&](const std::vector<float>& r) {
        return different_bits(y, r) == "";
      });
      if (!known) ++wrong;
    }
    done = true;
    chooses.join();
    CHECK(wrong == 0);
  }
}
