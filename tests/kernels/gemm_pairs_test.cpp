// The product of many rows with BF16 weights in pairs: emulated on every machine, and by the
// processor's instruction where it has AVX512_BF16, whether it is one that gains by it or not.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "imbrex/kernels/gemm.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "tests/kernels/amx/emulated.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/bf16_products.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/products.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::ConstRows, kernels::Gemm, kernels::Matrix, kernels::Rows;

namespace {

struct Kernel {
  const char* name;
  const Gemm* parts;
  Product multiply;
};

template <const Gemm& parts>
Kernel kernel(const char* name) {
  return {name, &parts, [](Rows y, ConstRows x, const Matrix& w, const float* bias) {
            kernels::gemm(parts, y, x, w, bias);
          }};
}

std::vector<Kernel> pair_kernels() {
  std::vector<Kernel> all{kernel<kernels::arch::emulated::gemm_pairs>("emulated")};
#if defined(__x86_64__)
  if (has_bfloat_vectors()) {
    all.push_back(kernel<kernels::arch::avx512_bf16::gemm_pairs>("avx512_bf16"));
  }
#endif
  return all;
}

float flushed(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

/// The sum of inputs [k, last) of a row: pair by pair, of each the second product first, both by
/// fused multiply-adds. Without its second number a pair has a zero there.
float run_of_pairs(const float* x, const float* w, index_t k, index_t last) {
  float sum = 0;
  for (; k < last; k += 2) {
    if (k + 1 < last) sum = flushed(std::fma(x[k + 1], w[k + 1], sum));
    sum = flushed(std::fma(x[k], w[k], sum));
  }
  return sum;
}

/// The product, bit for bit: runs of at most 512 inputs, equal up to multiples of 64, added to the
/// bias one after the other.
std::vector<float> product_of_pairs(const Operands& operands, index_t rows, const float* bias) {
  const Matrix& w = operands.matrix();
  std::vector<float> decoded(static_cast<std::size_t>(w.rows * w.cols)), result;
  kernels::decode(w.dtype, w.data, w.rows * w.cols, decoded.data());
  const std::vector<float> x = rounded_to_bf16(operands.x(), rows * w.cols),
                           weights = rounded_to_bf16(decoded.data(), w.rows * w.cols);
  const index_t runs = ceil_div(w.cols, 512), run = ceil_div(ceil_div(w.cols, runs), 64) * 64;
  for (index_t t = 0; t < rows; ++t) {
    for (index_t o = 0; o < w.rows; ++o) {
      float y = bias[o];
      for (index_t k = 0; k < w.cols; k += run) {
        y += run_of_pairs(x.data() + t * w.cols, weights.data() + o * w.cols, k,
                          lesser(w.cols, k + run));
      }
      result.push_back(y);
    }
  }
  return result;
}

/// y of one row and one output.
float dot(const Kernel& kernel, const std::vector<float>& x, const std::vector<float>& weights) {
  std::vector<bf16> w;
  for (const float v : weights) w.push_back(to_bf16(v));
  const auto inputs = static_cast<index_t>(x.size());
  float y = 0;
  kernel.multiply(
      {&y, 1, 1, 1}, {x.data(), 1, inputs, inputs},
      {reinterpret_cast<const std::byte*>(w.data()), Dtype::bf16, 1, inputs, 2 * inputs}, nullptr);
  return y;
}

}  // namespace

TEST_CASE("gemm_pairs: every number of rows and outputs around a tile's") {
  set_threads(1);  // thousands of small products
  for (const Kernel& kernel : pair_kernels()) {
    CAPTURE(kernel.name);
    for (const index_t inputs : {1, 2, 7, 33, 64, 100, 512, 513, 577, 1100}) {
      check_around_tile(kernel.multiply, Dtype::bf16, inputs, kernel.parts->rows,
                        kernel.parts->outputs, error_in_bf16);
    }
  }
  set_threads(0);
}

TEST_CASE("gemm_pairs: the bits of a plain loop of fused multiply-adds") {
  for (const Kernel& kernel : pair_kernels()) {
    CAPTURE(kernel.name);
    for (const index_t inputs : {1, 2, 31, 64, 300, 512, 514, 1027, 1536}) {
      CAPTURE(inputs);
      const index_t rows = 17, outputs = 35;
      const Operands operands(Dtype::bf16, outputs, inputs, rows);
      const std::vector<float> bias = uniform(outputs, 5);
      CHECK(different_bits(product(kernel.multiply, operands, 0, rows, outputs, bias.data()),
                           product_of_pairs(operands, rows, bias.data())) == "");
    }
  }
}

TEST_CASE("gemm_pairs: a row's bits do not depend on how many there are, nor on threads") {
  const index_t rows = kernels::tiles::gemm_chunk + 44, inputs = 576, outputs = 200;
  const Operands operands(Dtype::bf16, outputs, inputs, rows);
  for (const Kernel& kernel : pair_kernels()) {
    CAPTURE(kernel.name);
    const std::vector<float> whole = product(kernel.multiply, operands, 0, rows, outputs, nullptr);
    for (const index_t some : {1, 5, 17, 64, 255, 256, 257}) {
      for (const index_t first : {index_t{0}, rows - some}) {
        CHECK(different_bits(product(kernel.multiply, operands, first, some, outputs, nullptr),
                             part(whole, outputs, first, some, outputs)) == "");
      }
    }
    for (const int threads : {1, 2, 3, 8}) {
      set_threads(threads);
      CHECK(different_bits(product(kernel.multiply, operands, 0, rows, outputs, nullptr), whole) ==
            "");
    }
    set_threads(0);
  }
}

// 2^24 + 1 is 2^24, a tie, to even. So a sum of 2^24 loses a 1 that is added before -2^24, and
// keeps one that is added behind it; the first number of a pair is added second.
TEST_CASE("gemm_pairs: of a pair, the second product is added first") {
  for (const Kernel& kernel : pair_kernels()) {
    CAPTURE(kernel.name);
    CHECK(dot(kernel, {0x1p12f, 0, 0x1p12f, 1}, {0x1p12f, 0, -0x1p12f, 1}) == 0);
    CHECK(dot(kernel, {0x1p12f, 0, 1, 0x1p12f}, {0x1p12f, 0, 1, -0x1p12f}) == 1);
  }
}

// (1 + 2^-7)^2 = 1 + 2^-6 + 2^-14, of which bf16 would keep 1 + 2^-6.
TEST_CASE("gemm_pairs: products are exact, and subnormal numbers zeros, sums too") {
  for (const Kernel& kernel : pair_kernels()) {
    CAPTURE(kernel.name);
    check_bf16_rounding(kernel.multiply);
    check_bf16_infinities(kernel.multiply);
    check_bf16_sizes_of_zero(kernel.multiply);
    const float a = 1 + 0x1p-7f;
    CHECK(dot(kernel, {a, 1}, {a, -1 - 0x1p-6f}) == 0x1p-14f);
    CHECK(dot(kernel, {0x1p-70f}, {0x1p-56f}) == 0x1p-126f);
    CHECK(dot(kernel, {0x1p-70f}, {0x1p-57f}) == 0);
    // A product that is subnormal is added as it is, but a sum that is becomes zero.
    CHECK(dot(kernel, {0x1p-70f, 0x1p-70f}, {0x1p-57f, 0x1p-56f}) == 0x1.8p-126f);
    CHECK(dot(kernel, {0x1p-70f, 0, 0x1p-70f, 0x1p-70f}, {0x1p-56f, 0, -0x1p-56f, 0x1p-57f}) == 0);
  }
}

TEST_CASE("gemm_pairs: which sets have it") {
  bool pays = false;
#if defined(__x86_64__)
  unsigned most = 0, name[3] = {};  // of the maker
  REQUIRE(__get_cpuid(0, &most, &name[0], &name[2], &name[1]) != 0);
  pays = has_bfloat_vectors() && std::memcmp(name, "AuthenticAMD", 12) == 0;
#endif
  for (const Isa isa : available_sets()) {
    const Gemm& pairs = kernels::kernels_of(isa).pairs;
    const bool has = isa == Isa::avx512 && pays;
    CHECK((pairs.multiply != nullptr) == has);
    for (int d = 0; d < dtype_count; ++d) {
      CHECK((pairs.load[d] != nullptr) == (has && static_cast<Dtype>(d) == Dtype::bf16));
    }
  }
}

TEST_CASE("matmul: pairs of bf16 where it may round, and rows are many") {
  const auto matmul = [](Rows y, ConstRows x, const Matrix& w, const float* bias) {
    kernels::matmul(y, x, w, bias);
  };
  const Product gemm = kernels::gemm, gemv = kernels::gemv;
  const auto pairs = [](Rows y, ConstRows x, const Matrix& w, const float* bias) {
    kernels::gemm(kernels::active_kernels().pairs, y, x, w, bias);
  };
  for (const Isa isa : available_sets()) {
    if (kernels::kernels_of(isa).pairs.multiply == nullptr) continue;
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
      const Operands operands(dtype, 40, 100, 19);
      for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::int8}) {
        const WithArithmetic use(arithmetic);
        for (const index_t rows : {1, 4, 5, 16, 19}) {
          const bool rounds = dtype == Dtype::bf16 && arithmetic == Arithmetic::int8;
          const Product expected = rows <= 4 ? gemv : rounds ? Product(pairs) : gemm;
          CAPTURE(std::string(name(dtype)));
          CAPTURE(rows);
          CHECK(different_bits(product(matmul, operands, 0, rows, 40, nullptr),
                               product(expected, operands, 0, rows, 40, nullptr)) == "");
        }
      }
    }
  }
}
