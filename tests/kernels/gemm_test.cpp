// The product of many rows, on every instruction set that the machine has.
#include "imbrex/kernels/gemm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/reference/matmul.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/products.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::gemm, kernels::Matrix;

namespace {

/// What is wrong with a product against plain loops in double. A term is rounded as a product, and
/// in the at most 256 additions of a run; a run's sum in those of the later runs; and the reference
/// once, to float.
std::string error_of(const std::vector<float>& got, const Operands& operands, index_t rows,
                     const std::vector<float>& bias) {
  const Matrix& w = operands.matrix();
  std::vector<float> decoded(static_cast<std::size_t>(w.rows * w.cols)), want(got.size());
  kernels::decode(w.dtype, w.data, w.rows * w.cols, decoded.data());
  kernels::reference::matmul({want.data(), rows, w.rows, w.rows},
                             {operands.x(), rows, w.cols, w.cols}, w, bias.data());
  const double run = static_cast<double>(lesser(w.cols, 256));
  const double roundings = 1 + run + static_cast<double>(ceil_div(w.cols, 256)) + 1;
  return worst_difference(got.data(), want.data(), rows * w.rows, [&](index_t i) {
    const index_t t = i / w.rows, o = i % w.rows;
    double sum = std::abs(double{bias[static_cast<std::size_t>(o)]});
    for (index_t k = 0; k < w.cols; ++k) {
      sum += std::abs(double{operands.x()[t * w.cols + k]} *
                      double{decoded[static_cast<std::size_t>(o * w.cols + k)]});
    }
    return roundings * unit_roundoff * sum;
  });
}

std::vector<index_t> input_counts(Dtype dtype) {
  if (traits(dtype).block == 256) return {256, 768};
  if (traits(dtype).block == 32) return {32, 96, 288, 544};
  return {1, 7, 33, 100, 256, 257, 301, 576};
}

}  // namespace

TEST_CASE("gemm: every format on every set, every number of rows and outputs around a tile's") {
  set_threads(1);  // tens of thousands of small products
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    const kernels::Gemm& parts = kernels::kernels_of(isa).gemm;
    for (int d = 0; d < dtype_count; ++d) {
      const Dtype dtype = static_cast<Dtype>(d);
      for (const index_t inputs : input_counts(dtype)) {
        check_around_tile(gemm, dtype, inputs, parts.rows, parts.outputs, error_of);
      }
    }
  }
  set_threads(0);
}

// Among 5 rows or 600, in one chunk or several: also through `matmul`, from 5 rows on.
TEST_CASE("gemm: a row's bits do not depend on how many there are") {
  const index_t rows = 2 * kernels::tiles::gemm_chunk + 88, inputs = 576, outputs = 200;
  const WithArithmetic arithmetic(Arithmetic::f32);
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::f32, Dtype::q4_1}) {
      const Operands operands(dtype, outputs, inputs, rows);
      const std::vector<float> whole = product(gemm, operands, 0, rows, outputs, nullptr);
      for (const index_t some : {1, 5, 17, 64, 255, 256, 257, 300}) {
        for (const index_t first : {index_t{0}, index_t{100}, rows - some}) {
          CHECK(different_bits(product(gemm, operands, first, some, outputs, nullptr),
                               part(whole, outputs, first, some, outputs)) == "");
        }
      }
      std::vector<float> y(static_cast<std::size_t>(5 * outputs));
      kernels::matmul({y.data(), 5, outputs, outputs},
                      {operands.x() + 3 * inputs, 5, inputs, inputs}, operands.matrix());
      CHECK(different_bits(y, part(whole, outputs, 3, 5, outputs)) == "");
    }
  }
}

TEST_CASE("gemm: the same bits for any number of threads, on every set") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::bf16, Dtype::q8_0, Dtype::q6_k}) {
      const Operands operands(dtype, 333, 512, 300);
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 8}) {
        set_threads(threads);
        const std::vector<float> y = product(gemm, operands, 0, 300, 333, nullptr);
        if (first.empty()) first = y;
        CHECK(different_bits(y, first) == "");
      }
      set_threads(0);
    }
  }
}

#if defined(__x86_64__)
TEST_CASE("gemm: AVX2 and AVX-512 give the same bits") {
  if (!available(Isa::avx512)) return;
  for (const Dtype dtype : {Dtype::f32, Dtype::q4_1, Dtype::q5_k}) {
    const Operands operands(dtype, 77, 768, 31);
    std::vector<float> y[2];
    for (const Isa isa : {Isa::avx2, Isa::avx512}) {
      const WithSet set(isa);
      y[isa == Isa::avx512] = product(gemm, operands, 0, 31, 77, nullptr);
    }
    CHECK(different_bits(y[0], y[1]) == "");
  }
}
#endif

#if defined(__x86_64__) && !defined(__FMA__)
// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. Rounded to a float it is 1 + 2^-11 (a tie, to even): the set
// that multiplies and then adds loses the last term, those that do both at once keep it.
TEST_CASE("gemm: the bits say whether the set asked for is the one that ran") {
  const float a = 1 + 0x1p-12f, b = 1 + 0x1p-11f;
  const index_t rows = 8, outputs = 40;
  std::vector<float> x, w, y(static_cast<std::size_t>(rows * outputs));
  for (index_t i = 0; i < rows; ++i) x.insert(x.end(), {1, a});
  for (index_t i = 0; i < outputs; ++i) w.insert(w.end(), {-b, a});
  const Matrix m{reinterpret_cast<const std::byte*>(w.data()), Dtype::f32, outputs, 2, 8};
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CHECK(std::string(kernels::active_kernels().name) == name(isa));
    kernels::gemm({y.data(), rows, outputs, outputs}, {x.data(), rows, 2, 2}, m, nullptr);
    for (const float v : y) CHECK(v == (isa == Isa::scalar ? 0.0f : 0x1p-24f));
  }
}
#endif

TEST_CASE("gemm: infinities and NaN come through, and reach no other element") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    const index_t rows = 16, outputs = 35, inputs = 40;
    std::vector<float> x(static_cast<std::size_t>(rows * inputs), 1.0f),
        w(static_cast<std::size_t>(outputs * inputs), 1.0f),
        y(static_cast<std::size_t>(rows * outputs));
    x[3 * 40 + 7] = infinity;         // row 3
    w[34 * 40 + 39] = std::nanf("");  // output 34
    const Matrix m{reinterpret_cast<const std::byte*>(w.data()), Dtype::f32, outputs, inputs, 160};
    kernels::gemm({y.data(), rows, outputs, outputs}, {x.data(), rows, inputs, inputs}, m, nullptr);
    for (index_t t = 0; t < rows; ++t) {
      for (index_t o = 0; o < outputs; ++o) {
        const float v = y[static_cast<std::size_t>(t * outputs + o)];
        if (o == 34) {
          CHECK(std::isnan(v));
        } else {
          CHECK(v == (t == 3 ? infinity : 40.0f));
        }
      }
    }
  }
}
