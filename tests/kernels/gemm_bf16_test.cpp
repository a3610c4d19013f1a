// The product of many rows in bf16 tiles: over emulated tiles on every machine, and over the
// processor's where it has AMX. Cases of the latter have "amx" in their names, and are small.
#include "imbrex/kernels/gemm_bf16.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/kernels/matmul.hpp"
#include "tests/kernels/amx/emulated.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/bf16_products.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/products.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::Bf16Gemm, kernels::ConstRows, kernels::Matrix, kernels::Rows;

namespace {

/// The product by a kernel, its packed rows in memory that ends at a page that may not be touched.
template <const Bf16Gemm& kernel>
void multiply(Rows y, ConstRows x, const Matrix& w, const float* bias) {
  const index_t rows = ceil_div(x.rows, 32) * 32, inputs = ceil_div(w.cols, 32) * 32;
  const index_t most_rows = lesser(rows, 512), most_inputs = lesser(inputs, 4096);
  const GuardedBytes memory(static_cast<std::size_t>(most_rows * most_inputs) * sizeof(bf16));
  kernels::gemm_bf16(kernel, y, x, w, bias, reinterpret_cast<bf16*>(memory.data()));
}

struct Kernel {
  const char* name;
  Product multiply;
};

std::vector<Kernel> emulated_kernels() {
  std::vector<Kernel> all{{"portable", multiply<kernels::arch::emulated::bf16_gemm>}};
#if defined(__x86_64__)
  if (has_bfloat_vectors()) {
    all.push_back({"avx512", multiply<kernels::arch::emulated_avx512::bf16_gemm>});
  }
#endif
  return all;
}

bool in_tiles(int dtype) {
  return kernels::arch::emulated::bf16_gemm.rows.by_dtype[dtype] != nullptr;
}

std::vector<index_t> input_counts(Dtype dtype) {
  if (traits(dtype).block == 256) return {256, 768};
  if (traits(dtype).block == 32) return {32, 544};
  return {1, 31, 33, 64, 301, 513};
}

/// The largest product is held to the reference; smaller ones, for the last rows and outputs, to
/// its bits.
void check_sizes(const Kernel& kernel, Dtype dtype, index_t inputs,
                 const std::vector<index_t>& row_counts,
                 const std::vector<index_t>& output_counts) {
  const index_t most_rows = row_counts.back(), most_outputs = output_counts.back();
  const Operands operands(dtype, most_outputs, inputs, most_rows);
  const std::vector<float> bias = uniform(most_outputs, 5);
  const std::vector<float> whole =
      product(kernel.multiply, operands, 0, most_rows, most_outputs, bias.data());
  CAPTURE(kernel.name);
  CAPTURE(std::string(name(dtype)));
  CAPTURE(inputs);
  CHECK(error_in_bf16(whole, operands, most_rows, bias) == "");
  for (const index_t rows : row_counts) {
    for (const index_t outputs : output_counts) {
      CAPTURE(rows);
      CAPTURE(outputs);
      const index_t first = most_rows - rows;
      CHECK(different_bits(product(kernel.multiply, operands, first, rows, outputs,
                                   bias.data() + most_outputs - outputs),
                           part(whole, most_outputs, first, rows, outputs)) == "");
    }
  }
}

/// More rows, outputs and inputs than a block has: each alone, and the bits of parts.
void check_blocks(const Kernel& kernel) {
  check_sizes(kernel, Dtype::q8_0, 64, {512, 513, 520}, {20});
  check_sizes(kernel, Dtype::bf16, 40, {33}, {255, 256, 257, 600});
  check_sizes(kernel, Dtype::q4_k, 4096 + 256, {20}, {20});
  check_sizes(kernel, Dtype::bf16, 4200, {17, 65}, {33});  // few rows, and many
  check_sizes(kernel, Dtype::q4_1, 1056, {64, 65}, {70});
}

void check_threads(const Kernel& kernel) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::q4_0}) {
    const Operands operands(dtype, 333, 96, 100);
    std::vector<float> first;
    for (const int threads : {1, 2, 3, 8}) {
      set_threads(threads);
      const std::vector<float> y = product(kernel.multiply, operands, 0, 100, 333, nullptr);
      if (first.empty()) first = y;
      CHECK(different_bits(y, first) == "");
    }
    set_threads(0);
  }
}

}  // namespace

TEST_CASE("gemm_bf16, emulated: every format, rows and outputs around whole tiles") {
  for (const Kernel& kernel : emulated_kernels()) {
    for (int d = 0; d < dtype_count; ++d) {
      if (!in_tiles(d)) continue;
      for (const index_t inputs : input_counts(static_cast<Dtype>(d))) {
        check_sizes(kernel, static_cast<Dtype>(d), inputs, {1, 17, 35}, {17, 33});
      }
    }
  }
}

TEST_CASE("gemm_bf16, emulated: every number of rows to 70, and of outputs") {
  std::vector<index_t> all;
  for (index_t i = 1; i <= 70; ++i) all.push_back(i);
  for (const Kernel& kernel : emulated_kernels()) {
    check_sizes(kernel, Dtype::q5_0, 32, all, {31, 48});
    check_sizes(kernel, Dtype::bf16, 33, {16, 33}, all);
  }
}

TEST_CASE("gemm_bf16, emulated: blocks, threads, rounding, infinities, sizes of zero") {
  for (const Kernel& kernel : emulated_kernels()) {
    CAPTURE(kernel.name);
    check_blocks(kernel);
    check_threads(kernel);
    check_bf16_rounding(kernel.multiply);
    check_bf16_infinities(kernel.multiply);
    check_bf16_sizes_of_zero(kernel.multiply);
    check_bf16_sizes_of_zero(kernel.multiply, Dtype::q8_0);
  }
}

TEST_CASE("gemm_bf16: only amx has it, for quantised weights and BF16") {
  for (const Isa isa : available_sets()) {
    const Bf16Gemm& gemm = kernels::kernels_of(isa).bf16;
    for (int d = 0; d < dtype_count; ++d) {
      CHECK((gemm.rows.by_dtype[d] != nullptr) == (isa == Isa::amx && in_tiles(d)));
    }
    CHECK((gemm.multiply != nullptr) == (isa == Isa::amx));
  }
}

#if defined(__x86_64__)
TEST_CASE("amx gemm_bf16: the same by the processor's tiles") {
  if (!available(Isa::amx)) return;
  const Kernel kernel{"amx", multiply<kernels::arch::amx::bf16_gemm>};
  for (int d = 0; d < dtype_count; ++d) {
    if (!in_tiles(d)) continue;
    for (const index_t inputs : input_counts(static_cast<Dtype>(d))) {
      check_sizes(kernel, static_cast<Dtype>(d), inputs, {1, 17, 35}, {17, 33});
    }
  }
  check_sizes(kernel, Dtype::bf16, 33, {1, 15, 16, 31, 32, 48, 63, 64, 65, 70}, {48});
  check_blocks(kernel);
  check_threads(kernel);
  check_bf16_rounding(kernel.multiply);
  check_bf16_infinities(kernel.multiply);
  check_bf16_sizes_of_zero(kernel.multiply);
  check_bf16_sizes_of_zero(kernel.multiply, Dtype::q8_0);
}

TEST_CASE("amx matmul: in tiles where it may round, the weights are for it, and rows are many") {
  if (!available(Isa::amx)) return;
  const WithSet set(Isa::amx);
  const auto matmul = [](Rows y, ConstRows x, const Matrix& w, const float* bias) {
    kernels::matmul(y, x, w, bias);
  };
  const Product in_tiles = multiply<kernels::arch::amx::bf16_gemm>, gemv = kernels::gemv,
                gemm = kernels::gemm;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_k}) {
    const Operands operands(dtype, 40, 256, 19);
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::int8}) {
      const WithArithmetic use(arithmetic);
      for (const index_t rows : {1, 4, 5, 16, 17, 19}) {
        const bool many = rows > (traits(dtype).block > 1 ? 16 : 4);
        const bool tiles = many && dtype > Dtype::f16 && arithmetic == Arithmetic::int8;
        const bool few = rows <= 4 || (arithmetic == Arithmetic::int8 && !many);
        const Product expected = tiles ? in_tiles : few ? gemv : gemm;
        CAPTURE(std::string(name(dtype)));
        CAPTURE(rows);
        CHECK(different_bits(product(matmul, operands, 0, rows, 40, nullptr),
                             product(expected, operands, 0, rows, 40, nullptr)) == "");
      }
    }
  }
}
#endif

TEST_CASE("gemm_bf16, emulated: tiles are configured on every thread that uses them") {
  CHECK(kernels::arch::emulated::misuses == 0);
#if defined(__x86_64__)
  CHECK(kernels::arch::emulated_avx512::misuses == 0);
#endif
}
