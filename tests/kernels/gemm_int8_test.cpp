// The product of many rows with quantised weights in integers, on every set that has it.
#include "imbrex/kernels/gemm_int8.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/reference/round_activations.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/instruction_sets.hpp"
#include "tests/support/products.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::Int8Format, kernels::Int8Row, kernels::ManyRows, kernels::Matrix;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// By the set in use.
void gemm_int8(kernels::Rows y, kernels::ConstRows x, const Matrix& w, const float* bias) {
  kernels::gemm_int8(kernels::active_kernels().int8, y, x, w, bias);
}

const Int8Format& format_of(Isa isa, Dtype dtype) {
  return kernels::kernels_of(isa).int8.formats[static_cast<int>(dtype)];
}

bool has_format(Isa isa, Dtype dtype) { return format_of(isa, dtype).multiply != nullptr; }

std::vector<Isa> sets_with_int8() {
  std::vector<Isa> sets;
  for (const Isa isa : available_sets()) {
    if (has_format(isa, Dtype::q8_0)) sets.push_back(isa);
  }
  return sets;
}

/// The rows of x as the rule rounds them, q d in double.
std::vector<double> rounded(const float* x, index_t rows, index_t cols) {
  std::vector<std::int8_t> q(static_cast<std::size_t>(rows * cols));
  std::vector<float> d(q.size() / 32);
  std::vector<std::int32_t> sum(d.size());
  kernels::reference::round_activations(x, rows * cols, {q.data(), d.data(), sum.data()});
  std::vector<double> result;
  for (std::size_t i = 0; i < q.size(); ++i) result.push_back(double{d[i / 32]} * q[i]);
  return result;
}

/// What is wrong with a product against plain loops in double, with x as the rule rounds it. The
/// sum of a group is exact. It is rounded when it is scaled, and in the additions of a run, of at
/// most 32 groups and as many offsets, and of the runs. A scaled sum and an offset may be larger
/// than the number that is their sum, of a group in which 0 or nearly 0 occurs at most 3 times as
/// large as its largest.
std::string error_of(const std::vector<float>& got, const Operands& operands, index_t rows,
                     const std::vector<float>& bias) {
  const Matrix& w = operands.matrix();
  const std::vector<double> x = rounded(operands.x(), rows, w.cols);
  std::vector<float> decoded(static_cast<std::size_t>(w.rows * w.cols)), want;
  kernels::decode(w.dtype, w.data, w.rows * w.cols, decoded.data());
  std::vector<double> allowed;
  const double runs = static_cast<double>(ceil_div(w.cols, kernels::int8_inputs));
  for (index_t t = 0; t < rows; ++t) {
    for (index_t o = 0; o < w.rows; ++o) {
      double sum = double{bias[static_cast<std::size_t>(o)]}, magnitude = std::abs(sum);
      for (index_t k = 0; k < w.cols; k += 16) {
        double largest = 0, xs = 0;
        for (index_t i = k; i < k + 16; ++i) {
          const double v = x[static_cast<std::size_t>(t * w.cols + i)],
                       u = double{decoded[static_cast<std::size_t>(o * w.cols + i)]};
          sum += v * u;
          xs += std::abs(v);
          largest = (std::max)(largest, std::abs(u));
        }
        magnitude += 3 * largest * xs;
      }
      want.push_back(static_cast<float>(sum));
      allowed.push_back((64 + runs + 4) * unit_roundoff * magnitude);
    }
  }
  return worst_difference(got.data(), want.data(), rows * w.rows,
                          [&](index_t i) { return allowed[static_cast<std::size_t>(i)]; });
}

std::vector<index_t> input_counts(Dtype dtype) {
  if (traits(dtype).block == 256) return {256, 768};
  return {32, 96, 544, 1056};
}

}  // namespace

TEST_CASE("gemm_int8: which sets have it") {
  if (sets_with_int8().empty()) MESSAGE("skipped: no set of this machine multiplies in int8");
  for (int d = 0; d < dtype_count; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    CHECK(!has_format(Isa::scalar, dtype));
#if defined(__x86_64__)
    if (available(Isa::avx2)) CHECK(has_format(Isa::avx2, dtype) == (dtype > Dtype::bf16));
    if (available(Isa::avx512)) {
      const bool has_vnni = __builtin_cpu_supports("avx512vnni");
      CHECK(has_format(Isa::avx512, dtype) == (dtype > Dtype::bf16 && has_vnni));
    }
#elif defined(__aarch64__)
    const bool has_sdot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    CHECK(has_format(Isa::neon, dtype) == (dtype > Dtype::bf16 && has_sdot));
#endif
  }
}

// Whole numbers up to 127, one of that magnitude in each block: x is rounded to itself, and all
// sums are exact. The largest sums of a group, too: 32 x 127 x 128.
TEST_CASE("gemm_int8: exact where numbers are whole") {
  const index_t rows = 7, outputs = 37, inputs = 576;
  std::vector<float> x(static_cast<std::size_t>(rows * inputs)), y(7 * 37);
  std::vector<std::byte> w(static_cast<std::size_t>(outputs * row_bytes(Dtype::q8_0, inputs)));
  Random random(1);
  const auto value = [&](index_t row, index_t limit) {
    if (row == 0) return limit;
    if (row == 1) return -limit;
    return static_cast<index_t>(random() % 255) - 127;
  };
  for (index_t i = 0; i < rows * inputs; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<float>(i % 32 == 5 ? 127 : value(i / inputs, 127));
  }
  std::vector<index_t> q;
  for (index_t o = 0; o < outputs; ++o) {
    for (index_t b = 0; b < inputs / 32; ++b) {
      std::byte* block = w.data() + o * row_bytes(Dtype::q8_0, inputs) + b * 34;
      block[0] = std::byte{0}, block[1] = std::byte{0x3C};  // d = 1
      for (index_t i = 0; i < 32; ++i) {
        q.push_back(o == 1 ? -128 : value(o, 127));
        block[2 + i] = static_cast<std::byte>(static_cast<std::int8_t>(q.back()));
      }
    }
  }
  const Matrix m{w.data(), Dtype::q8_0, outputs, inputs, row_bytes(Dtype::q8_0, inputs)};
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    gemm_int8({y.data(), rows, outputs, outputs}, {x.data(), rows, inputs, inputs}, m, nullptr);
    for (index_t t = 0; t < rows; ++t) {
      for (index_t o = 0; o < outputs; ++o) {
        index_t sum = 0;  // below 2^24: a float
        for (index_t k = 0; k < inputs; ++k) {
          sum += q[static_cast<std::size_t>(o * inputs + k)] *
                 static_cast<index_t>(x[static_cast<std::size_t>(t * inputs + k)]);
        }
        CHECK(y[static_cast<std::size_t>(t * outputs + o)] == static_cast<float>(sum));
      }
    }
  }
}

TEST_CASE("gemm_int8: every format, every number of rows and outputs around a tile's") {
  set_threads(1);  // thousands of small products
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    const kernels::Int8Gemm& parts = kernels::kernels_of(isa).int8;
    for (int d = static_cast<int>(Dtype::q4_0); d < dtype_count; ++d) {
      const Dtype dtype = static_cast<Dtype>(d);
      for (const index_t inputs : input_counts(dtype)) {
        check_around_tile(gemm_int8, dtype, inputs, parts.rows, parts.outputs, error_of);
      }
    }
  }
  set_threads(0);
}

// All numbers of a block as large as they can be, or as small (Q8_0: -128), and all of x 127 or
// -127: integer sums reach their bounds, those in 16 bits too.
TEST_CASE("gemm_int8: the largest sums of every format") {
  struct Numbers {
    Dtype dtype;
    index_t first, end;  ///< their bytes in a block, see quant/
    int largest = 0xFF, smallest = 0;
  };
  const Numbers formats[] = {
      {Dtype::q4_0, 2, 18},
      {Dtype::q4_1, 4, 20},
      {Dtype::q5_0, 2, 22},
      {Dtype::q5_1, 4, 24},
      {Dtype::q8_0, 2, 34, 0x7F, 0x80},
      {Dtype::q2_k, 16, 80},
      {Dtype::q3_k, 0, 96},
      {Dtype::q4_k, 16, 144},
      {Dtype::q5_k, 16, 176},
      {Dtype::q6_k, 0, 192},
  };
  const index_t rows = 6, outputs = 35, inputs = 512;
  const std::vector<float> bias(outputs);
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    for (const Numbers& format : formats) {
      const Operands operands(format.dtype, outputs, inputs, rows);
      const index_t size = traits(format.dtype).bytes, row = operands.matrix().row_bytes;
      for (index_t o = 0; o < outputs; ++o) {
        for (index_t block = o * row; block < (o + 1) * row; block += size) {
          std::memset(operands.stored() + block + format.first,
                      o % 2 == 0 ? format.largest : format.smallest,
                      static_cast<std::size_t>(format.end - format.first));
        }
      }
      for (index_t i = 0; i < rows * inputs; ++i) operands.x()[i] = i / inputs % 2 == 0 ? 3 : -3;
      CAPTURE(name(format.dtype));
      CHECK(error_of(product(gemm_int8, operands, 0, rows, outputs, bias.data()), operands, rows,
                     bias) == "");
    }
  }
}

TEST_CASE("gemm_int8: a row's bits do not depend on how many there are, nor on threads") {
  const index_t rows = 2 * kernels::tiles::int8_chunk + 44, inputs = 576, outputs = 200;
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::q8_0, Dtype::q4_1}) {
      const Operands operands(dtype, outputs, inputs, rows);
      const std::vector<float> whole = product(gemm_int8, operands, 0, rows, outputs, nullptr);
      for (const index_t some : {1, 5, 17, 64, 127, 128, 129, 300}) {
        for (const index_t first : {index_t{0}, rows - some}) {
          CHECK(different_bits(product(gemm_int8, operands, first, some, outputs, nullptr),
                               part(whole, outputs, first, some, outputs)) == "");
        }
      }
      for (const int threads : {1, 2, 3, 8}) {
        set_threads(threads);
        CHECK(different_bits(product(gemm_int8, operands, 0, rows, outputs, nullptr), whole) == "");
      }
      set_threads(0);
    }
  }
}

TEST_CASE("gemm_int8: infinities and NaN make their rows NaN, and reach no other") {
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::q4_0, Dtype::q4_1, Dtype::q6_k, Dtype::q2_k}) {
      const index_t rows = 16, outputs = 35, inputs = 256;
      const Operands operands(dtype, outputs, inputs, rows);
      const std::vector<float> before = product(gemm_int8, operands, 0, rows, outputs, nullptr);
      operands.x()[3 * inputs + 7] = infinity;
      operands.x()[4 * inputs + 40] = -infinity;
      operands.x()[9 * inputs + 255] = std::nanf("");
      const std::vector<float> y = product(gemm_int8, operands, 0, rows, outputs, nullptr);
      for (index_t i = 0; i < rows * outputs; ++i) {
        const index_t t = i / outputs;
        const float v = y[static_cast<std::size_t>(i)];
        if (t == 3 || t == 4 || t == 9) {
          CHECK(std::isnan(v));
        } else {
          CHECK(v == before[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

TEST_CASE("gemm_int8: rows are rounded by the rule, bit for bit") {
  for (const Isa isa : sets_with_int8()) {
    const Int8Format& format = format_of(isa, Dtype::q8_0);
    for (index_t inputs = 32; inputs <= kernels::int8_inputs; inputs += 32) {
      for (const int kind : {0, 1, 2, 3}) {
        std::vector<float> values = uniform(inputs, 7 + static_cast<std::uint64_t>(inputs), -3, 3);
        for (index_t i = 0; i < 32; ++i) {
          float& v = values[static_cast<std::size_t>(inputs - 32 + i)];
          if (kind == 1) v = 0;
          if (kind == 2) v *= 0x1p-121f;  // some 2^-119, about which all becomes zeros
        }
        if (kind == 3) values.back() = std::nanf("");
        const GuardedBytes memory(values.size() * sizeof(float));
        std::memcpy(memory.data(), values.data(), values.size() * sizeof(float));
        Int8Row row;
        format.round(reinterpret_cast<const float*>(memory.data()), inputs, row);
        std::vector<std::int8_t> q(values.size());
        std::vector<float> d(q.size() / 32), got_d(row.d, row.d + inputs / 32);
        std::vector<std::int32_t> sum(d.size());
        kernels::reference::round_activations(values.data(), inputs,
                                              {q.data(), d.data(), sum.data()});
        CAPTURE(inputs);
        CAPTURE(kind);
        CHECK(std::memcmp(q.data(), row.q, q.size()) == 0);
        CHECK(worst_difference(got_d, d, 0) == "");
      }
    }
  }
}

TEST_CASE("gemm_int8: sizes of zero") {
  const std::vector<float> bias{3, -4};
  std::vector<float> y(12, 9.0f), x(6 * 32, 1.0f);
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    gemm_int8({y.data(), 6, 2, 2}, {nullptr, 6, 0, 0}, {nullptr, Dtype::q8_0, 2, 0, 0},
              bias.data());
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == bias[i % 2]);
    gemm_int8({nullptr, 6, 0, 0}, {x.data(), 6, 32, 32}, {nullptr, Dtype::q8_0, 0, 32, 34},
              nullptr);
    gemm_int8({nullptr, 0, 2, 2}, {nullptr, 0, 32, 32}, {nullptr, Dtype::q8_0, 2, 32, 34}, nullptr);
  }
}

TEST_CASE("matmul of many rows: the arithmetic in use") {
  const index_t rows = 19, outputs = 40, inputs = 64;
  const auto matmul = [](kernels::Rows y, kernels::ConstRows x, const Matrix& w,
                         const float* bias) { kernels::matmul(y, x, w, bias); };
  const auto tiles = [](kernels::Rows y, kernels::ConstRows x, const Matrix& w, const float* bias) {
    kernels::gemm_bf16(kernels::kernels_of(Isa::amx).bf16, y, x, w, bias, kernels::packed_memory());
  };
  const auto pairs = [](kernels::Rows y, kernels::ConstRows x, const Matrix& w, const float* bias) {
    kernels::gemm(kernels::active_kernels().pairs, y, x, w, bias);
  };
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::q4_1}) {
      const Operands operands(dtype, outputs, inputs, rows);
      const auto with = [&](Product multiply) {
        return product(multiply, operands, 0, rows, outputs, nullptr);
      };
      const WithArithmetic before(Arithmetic::f32);
      CHECK(kernels::many_rows(dtype) == ManyRows::f32);
      CHECK(different_bits(with(matmul), with(kernels::gemm)) == "");
      use_arithmetic(Arithmetic::int8);
      const bool in_bf16 = isa == Isa::amx && dtype != Dtype::f32;
      const bool in_pairs = dtype == Dtype::bf16 && kernels::kernels_of(isa).pairs.rows > 0;
      const ManyRows way = in_bf16                  ? ManyRows::bf16
                           : in_pairs               ? ManyRows::pairs
                           : has_format(isa, dtype) ? ManyRows::int8
                                                    : ManyRows::f32;
      CHECK(kernels::many_rows(dtype) == way);
      const std::vector<float> expected = way == ManyRows::bf16    ? with(tiles)
                                          : way == ManyRows::pairs ? with(pairs)
                                          : way == ManyRows::int8  ? with(gemm_int8)
                                                                   : with(kernels::gemm);
      CHECK(different_bits(with(matmul), expected) == "");
    }
  }
}

// Rows farther apart than the sets' offsets of 32 bits reach. Memory that is not touched is none.
TEST_CASE("gemm_int8: rows of W at any distance") {
  for (const Isa isa : sets_with_int8()) {
    const WithSet set(isa);
    const index_t outputs = kernels::kernels_of(isa).int8.outputs + 3, rows = 20, inputs = 64;
    const Operands operands(Dtype::q4_0, outputs, inputs, rows);
    Matrix far = operands.matrix();
    far.row_bytes = index_t{150} << 20;
    const std::size_t size = static_cast<std::size_t>(outputs * far.row_bytes);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto* bytes = static_cast<std::byte*>(memory);
    far.data = bytes;
    for (index_t o = 0; o < outputs; ++o) {
      std::memcpy(bytes + o * far.row_bytes, operands.matrix().row(o),
                  static_cast<std::size_t>(operands.matrix().row_bytes));
    }
    std::vector<float> y(static_cast<std::size_t>(rows * outputs));
    gemm_int8({y.data(), rows, outputs, outputs}, {operands.x(), rows, inputs, inputs}, far,
              nullptr);
    munmap(memory, size);
    CHECK(different_bits(y, product(gemm_int8, operands, 0, rows, outputs, nullptr)) == "");
  }
}
