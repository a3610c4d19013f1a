// Products with activations rounded to int8: every format, by every table of functions.
#include <doctest/doctest.h>

#if defined(__aarch64__)
#include <setjmp.h>
#include <signal.h>
#endif

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/arch/sets.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/kernels/reference/matmul.hpp"
#include "imbrex/kernels/reference/round_activations.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::Matrix;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// All tables that this machine can run: avx512 has two, for processors with VNNI and without, and
/// so has neon, for those with dot products.
struct Table {
  std::string name;
  const kernels::Kernels* kernels;
};

std::vector<Table> tables() {
  std::vector<Table> all;
  for (const Isa isa : available_sets()) all.push_back({name(isa), &kernels::kernels_of(isa)});
#if defined(__x86_64__)
  if (available(Isa::avx512)) {
    all.push_back({"avx512 without VNNI", &kernels::arch::avx512::kernels});
  }
#elif defined(__aarch64__)
  all.push_back({"neon without dot products", &kernels::arch::neon::kernels});
#endif
  return all;
}

#if defined(__aarch64__)
sigjmp_buf before_instruction;

/// Whether the processor has dot products: it is given one, sdot v0.4s, v0.16b, v0.16b.
bool executes_dot_product() {
  struct sigaction refused = {}, kept = {};
  refused.sa_handler = [](int) { siglongjmp(before_instruction, 1); };
  sigaction(SIGILL, &refused, &kept);
  volatile bool executed = false;
  if (sigsetjmp(before_instruction, 1) == 0) {
    asm volatile(".inst 0x4e809400" ::: "v0");
    executed = true;
  }
  sigaction(SIGILL, &kept, nullptr);
  return executed;
}
#endif

std::vector<Dtype> quantised() {
  std::vector<Dtype> all;
  for (int d = 0; d < dtype_count; ++d) {
    if (traits(static_cast<Dtype>(d)).block > 1) all.push_back(static_cast<Dtype>(d));
  }
  return all;
}

/// A matrix that ends at a page that may not be read: encoded, or for formats without an encoder
/// random bytes (bit 6 clear, so that a half's exponent is below that of 2).
struct Stored {
  Dtype dtype;
  index_t rows, cols;
  GuardedBytes bytes;
  std::vector<float> decoded;

  Stored(Dtype d, index_t r, index_t c, std::uint64_t seed = 1)
      : dtype(d), rows(r), cols(c), bytes(size()), decoded(static_cast<std::size_t>(r * c)) {
    if (d <= Dtype::q4_1 || d == Dtype::q8_0) {
      kernels::encode(d, uniform(r * c, seed).data(), r * c, bytes.data());
    } else {
      Random random(seed);
      for (std::size_t i = 0; i < size(); ++i) {
        bytes.data()[i] = static_cast<std::byte>(random() & 0xBFu);
      }
    }
    kernels::decode(dtype, bytes.data(), rows * cols, decoded.data());
  }

  std::size_t size() const { return static_cast<std::size_t>(rows * row_bytes(dtype, cols)); }
  Matrix matrix() const { return {bytes.data(), dtype, rows, cols, row_bytes(dtype, cols)}; }

  /// All bytes alike, but 1 for the halves of a block (d, and m or dmin).
  void fill(int byte) {
    const bool last = dtype == Dtype::q2_k || dtype == Dtype::q3_k || dtype == Dtype::q6_k;
    const bool two = dtype == Dtype::q4_1 || dtype == Dtype::q5_1 || dtype == Dtype::q2_k ||
                     dtype == Dtype::q4_k || dtype == Dtype::q5_k;
    const std::uint16_t ones[2] = {0x3C00, 0x3C00};
    const std::size_t halves = two ? 4 : 2, block = static_cast<std::size_t>(traits(dtype).bytes);
    std::memset(bytes.data(), byte, size());
    for (std::size_t i = 0; i < size(); i += block) {
      std::memcpy(bytes.data() + i + (last ? block - halves : 0), ones, halves);
    }
    kernels::decode(dtype, bytes.data(), rows * cols, decoded.data());
  }

  float largest() const {
    float most = 0;
    for (const float w : decoded) most = (std::max)(most, std::fabs(w));
    return most;
  }
};

/// x as the rule rounds it.
std::vector<float> rounded(const std::vector<float>& x) {
  std::vector<std::int8_t> q(x.size());
  std::vector<float> d(x.size() / 32), r(x.size());
  std::vector<std::int32_t> sum(d.size());
  kernels::reference::round_activations(x.data(), static_cast<index_t>(x.size()),
                                        {q.data(), d.data(), sum.data()});
  for (std::size_t i = 0; i < x.size(); ++i) r[i] = d[i / 32] * static_cast<float>(q[i]);
  return r;
}

std::vector<float> by(const kernels::Kernels& kernels, const Stored& w, const std::vector<float>& x,
                      const float* bias = nullptr) {
  const index_t rows = static_cast<index_t>(x.size()) / w.cols;
  std::vector<float> y(static_cast<std::size_t>(rows * w.rows), -7.0f);
  kernels::rounded_gemv(kernels.rounded.by_dtype[static_cast<int>(w.dtype)],
                        {y.data(), rows, w.rows, w.rows}, {x.data(), rows, w.cols, w.cols},
                        w.matrix(), bias);
  return y;
}

std::vector<float> reference(const Stored& w, const std::vector<float>& x,
                             const float* bias = nullptr) {
  const index_t rows = static_cast<index_t>(x.size()) / w.cols;
  std::vector<float> y(static_cast<std::size_t>(rows * w.rows));
  kernels::reference::matmul({y.data(), rows, w.rows, w.rows}, {x.data(), rows, w.cols, w.cols},
                             w.matrix(), bias);
  return y;
}

/// What the error of row t may be if its x is rounded by the rule: integer sums are exact. A term
/// is rounded as a product of scales and in a sum of at most one step for each 16 numbers of 64
/// (four lanes), twice where there is an offset: K / 32. Then four to six additions of lanes, of
/// runs and the bias. Terms are bounded by scale q and offset apart, each at most twice the largest
/// weight of a scale's numbers, if all numbers occur; of the matrix's, some are within half of
/// that.
double allowed(const Stored& w, const std::vector<float>& x, index_t t) {
  double sum = 1;
  for (index_t k = 0; k < w.cols; ++k) {
    sum += std::abs(double{x[static_cast<std::size_t>(t * w.cols + k)]});
  }
  const double roundings = static_cast<double>(w.cols) / 32 + 12;
  return roundings * unit_roundoff * 4 * double{w.largest()} * sum;
}

}  // namespace

TEST_CASE("rounded products: every quantised format has one on every set, no other has") {
  for (const Table& table : tables()) {
    for (int d = 0; d < dtype_count; ++d) {
      const kernels::Rounded& kernel = table.kernels->rounded.by_dtype[d];
      const bool quantised = traits(static_cast<Dtype>(d)).block > 1;
      CHECK((kernel.multiply != nullptr) == quantised);
      CHECK((kernel.arrange != nullptr) == quantised);
    }
  }
#if defined(__x86_64__)
  if (available(Isa::avx512)) {
    CHECK((kernels::kernels_of(Isa::avx512).rounded.by_dtype[3].multiply ==
           kernels::arch::avx512_vnni::kernels.rounded.by_dtype[3].multiply) ==
          static_cast<bool>(__builtin_cpu_supports("avx512vnni")));
    CHECK(std::string(kernels::kernels_of(Isa::avx512).name) == "avx512");
  }
#elif defined(__aarch64__)
  CHECK((kernels::kernels_of(Isa::neon).rounded.by_dtype[3].multiply ==
         kernels::arch::neon_dotprod::kernels.rounded.by_dtype[3].multiply) ==
        executes_dot_product());
  CHECK(std::string(kernels::kernels_of(Isa::neon).name) == "neon");
#endif
}

// x = (0, .., 127, .., 0) is rounded to itself and picks one weight: none is lost, taken twice or
// misplaced, in whole steps and in what is left of a row. Sums with an offset are rounded thrice.
TEST_CASE("rounded products: with a unit vector it is the weight") {
  for (const Dtype dtype : quantised()) {
    const index_t block = traits(dtype).block;
    for (const index_t n : {block, 3 * block, 1024 + block}) {
      const Stored w(dtype, 1, n);
      const double off = 6 * unit_roundoff * 127 * 4 * double{w.largest()};
      for (const Table& table : tables()) {
        CAPTURE(table.name);
        CAPTURE(std::string(name(dtype)));
        CAPTURE(n);
        index_t wrong = 0;
        std::vector<float> x(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < x.size(); ++i) {
          x[i] = 127;
          const float y = by(*table.kernels, w, x)[0];
          if (!(std::abs(double{y} - 127 * double{w.decoded[i]}) <= off)) ++wrong;
          x[i] = 0;
        }
        CHECK(wrong == 0);
        CHECK(by(*table.kernels, w, x)[0] == 0);
      }
    }
  }
}

TEST_CASE("rounded products: the product with x rounded by the rule, for every number of rows") {
  for (const Dtype dtype : quantised()) {
    for (const index_t cols : {256, 512, 1280, 2304}) {
      const Stored w(dtype, 7, cols, 3);
      const std::vector<float> bias = uniform(7, 5);
      for (index_t rows = 1; rows <= 19; ++rows) {
        if (rows > 4 && cols != 1280) continue;
        const std::vector<float> x = uniform(rows * cols, 4), r = rounded(x);
        const std::vector<float> want = reference(w, r, bias.data());
        for (const Table& table : tables()) {
          CAPTURE(table.name);
          CAPTURE(std::string(name(dtype)));
          CAPTURE(cols);
          CAPTURE(rows);
          const std::vector<float> y = by(*table.kernels, w, x, bias.data());
          CHECK(worst_difference(y.data(), want.data(), rows * 7,
                                 [&](index_t i) { return allowed(w, r, i / 7); }) == "");
        }
      }
    }
  }
}

// Outputs are taken in groups of 8 and in pairs, and in items of several groups: of none an output
// is lost, taken twice or written elsewhere.
TEST_CASE("rounded products: every number of outputs") {
  for (const Dtype dtype : quantised()) {
    for (const index_t rows : {1, 3, 16}) {
      const std::vector<float> x = uniform(rows * 768, 19), r = rounded(x);
      for (index_t outputs = 1; outputs <= 27; ++outputs) {
        const Stored w(dtype, outputs, 768, 20);
        const std::vector<float> want = reference(w, r);
        for (const Table& table : tables()) {
          CAPTURE(table.name);
          CAPTURE(std::string(name(dtype)));
          CAPTURE(rows);
          CAPTURE(outputs);
          CHECK(worst_difference(by(*table.kernels, w, x).data(), want.data(), rows * outputs,
                                 [&](index_t i) { return allowed(w, r, i / outputs); }) == "");
        }
      }
    }
  }
}

// Sums of products that a set adds up in 16 bits fit there: largest numbers, and the least.
TEST_CASE("rounded products: numbers of the same bits, times 127 and -127") {
  for (const Dtype dtype : quantised()) {
    for (const int byte : {0x00, 0x7F, 0x80, 0xFF}) {
      Stored w(dtype, 2, 1024);
      w.fill(byte);
      for (const float each : {127.0f, -127.0f}) {
        const std::vector<float> x(1024, each), want = reference(w, x);
        for (const Table& table : tables()) {
          CAPTURE(table.name);
          CAPTURE(std::string(name(dtype)));
          CAPTURE(byte);
          CHECK(worst_difference(by(*table.kernels, w, x).data(), want.data(), 2,
                                 [&](index_t) { return allowed(w, x, 0); }) == "");
        }
      }
    }
  }
}

TEST_CASE("rounded products: blocks of 32 in every number, and rows longer than a run") {
  for (const Dtype dtype : quantised()) {
    std::vector<index_t> lengths{2 * kernels::rounded_run + 256};
    if (traits(dtype).block == 32) {
      for (index_t blocks = 1; blocks <= 18; ++blocks) lengths.push_back(32 * blocks);
    }
    for (const index_t cols : lengths) {
      const Stored w(dtype, 3, cols, 6);
      const std::vector<float> x = uniform(2 * cols, 7), r = rounded(x), want = reference(w, r);
      for (const Table& table : tables()) {
        CAPTURE(table.name);
        CAPTURE(std::string(name(dtype)));
        CAPTURE(cols);
        CHECK(worst_difference(by(*table.kernels, w, x).data(), want.data(), 6,
                               [&](index_t i) { return allowed(w, r, i / 3); }) == "");
      }
    }
  }
}

// x is off by d (1/2 + 2^-15) at most, d = max |x| / 127 of its block.
TEST_CASE("rounded products: not further from the exact product than rounding x can take them") {
  const WithArithmetic arithmetic(Arithmetic::int8);
  for (const Dtype dtype : quantised()) {
    const Stored w(dtype, 21, 1024, 8);
    for (const index_t rows : {1, 4, 16}) {
      const std::vector<float> x = uniform(rows * 1024, 9), exact = reference(w, x);
      for (const Isa isa : available_sets()) {
        const WithSet set(isa);
        std::vector<float> y(static_cast<std::size_t>(rows * 21));
        kernels::matmul({y.data(), rows, 21, 21}, {x.data(), rows, 1024, 1024}, w.matrix());
        double squares = 0, size = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
          squares += std::pow(double{y[i]} - double{exact[i]}, 2), size += std::pow(exact[i], 2);
        }
        CAPTURE(std::string(name(isa)));
        CAPTURE(std::string(name(dtype)));
        CHECK(squares > 0);                                       // it is not the product in floats
        if (rows == 16) CHECK(std::sqrt(squares / size) < 1e-2);  // 0.4 % where weights are random
        CHECK(worst_difference(y.data(), exact.data(), rows * 21, [&](index_t i) {
                double sum = allowed(w, x, i / 21);
                for (index_t block = 0; block < 1024 / 32; ++block) {
                  double most = 0, weights = 0;
                  for (index_t k = 32 * block; k < 32 * block + 32; ++k) {
                    const auto at = [k](index_t row) {
                      return static_cast<std::size_t>(row * 1024 + k);
                    };
                    most = (std::max)(most, std::abs(double{x[at(i / 21)]}));
                    weights += std::abs(double{w.decoded[at(i % 21)]});
                  }
                  sum += most / 127 * (0.5 + 0x1p-15) * weights;
                }
                return sum;
              }) == "");
      }
    }
  }
}

TEST_CASE("rounded products: a row's bits do not depend on the others, nor on threads") {
  for (const Table& table : tables()) {
    for (const Dtype dtype : quantised()) {
      const Stored w(dtype, 333, 512, 10);
      const std::vector<float> x = uniform(19 * 512, 11);
      set_threads(1);
      std::vector<float> apart;
      for (std::ptrdiff_t t = 0; t < 19; ++t) {
        const std::vector<float> row(x.begin() + 512 * t, x.begin() + 512 * (t + 1));
        const std::vector<float> y = by(*table.kernels, w, row);
        apart.insert(apart.end(), y.begin(), y.end());
      }
      for (const int threads : {1, 2, 3, 8}) {
        set_threads(threads);
        for (std::ptrdiff_t rows = 1; rows <= 19; ++rows) {
          if (threads != 2 && rows % 5 != 1) continue;
          const std::vector<float> some(x.begin(), x.begin() + 512 * rows);
          const std::vector<float> want(apart.begin(), apart.begin() + 333 * rows);
          CHECK(different_bits(by(*table.kernels, w, some), want) == "");
        }
      }
      set_threads(0);
    }
  }
}

TEST_CASE("rounded products: what is not finite in x or in a scale is not a number in y") {
  for (const Table& table : tables()) {
    for (const Dtype dtype : quantised()) {
      CAPTURE(table.name);
      CAPTURE(std::string(name(dtype)));
      Stored w(dtype, 5, 1280, 12);
      for (const float odd : {infinity, -infinity, not_a_number}) {
        for (const std::size_t at : {std::size_t{0}, std::size_t{700}, std::size_t{1279}}) {
          std::vector<float> x = uniform(2 * 1280, 13);
          const std::vector<float> clean = by(*table.kernels, w, x);
          x[1280 + at] = odd;
          const std::vector<float> y = by(*table.kernels, w, x);
          for (std::size_t o = 0; o < 5; ++o) {
            CHECK(y[o] == clean[o]);
            CHECK(std::isnan(y[5 + o]));
          }
        }
      }
      // All bits set: scales that are NaN, in the last block of the third row.
      const index_t bytes = traits(dtype).bytes, row = row_bytes(dtype, 1280);
      std::memset(w.bytes.data() + 3 * row - bytes, 0xFF, static_cast<std::size_t>(bytes));
      const std::vector<float> y = by(*table.kernels, w, uniform(1280, 14));
      for (std::size_t o = 0; o < 5; ++o) CHECK(std::isfinite(y[o]) == (o != 2));
    }
  }
}

TEST_CASE("rounded products: strides of x and y are obeyed, and sizes of zero") {
  const WithArithmetic arithmetic(Arithmetic::int8);
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    const Stored w(Dtype::q5_1, 5, 64, 15);
    const std::vector<float> x = uniform(2 * 70, 16);
    std::vector<float> y(2 * 8, 5.0f), packed(x.begin(), x.begin() + 64);
    packed.insert(packed.end(), x.begin() + 70, x.begin() + 134);
    kernels::gemv({y.data(), 2, 5, 8}, {x.data(), 2, 64, 70}, w.matrix(), nullptr);
    const std::vector<float> want = by(kernels::kernels_of(isa), w, packed);
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t o = 0; o < 8; ++o) {
        CHECK(y[8 * t + o] == (o < 5 ? want[5 * t + o] : 5.0f));
      }
    }
    const std::vector<float> bias{1, 2};
    std::vector<float> start(4, -7.0f);
    kernels::gemv({start.data(), 2, 2, 2}, {nullptr, 2, 0, 0}, {nullptr, Dtype::q8_0, 2, 0, 0},
                  bias.data());
    CHECK(start == std::vector<float>{1, 2, 1, 2});
    kernels::gemv({nullptr, 1, 0, 0}, {x.data(), 1, 64, 64}, {nullptr, Dtype::q8_0, 0, 64, 68},
                  nullptr);
    kernels::gemv({nullptr, 0, 5, 5}, {nullptr, 0, 64, 64}, w.matrix(), nullptr);
  }
}

TEST_CASE("rounded products: the arithmetic chosen decides, for quantised weights alone") {
  const std::vector<float> x = uniform(256, 17);
  for (int d = 0; d < dtype_count; ++d) {
    const Stored w(static_cast<Dtype>(d), 9, 256, 18);
    std::vector<float> y[2] = {std::vector<float>(9), std::vector<float>(9)};
    for (const Arithmetic wanted : {Arithmetic::f32, Arithmetic::int8}) {
      const WithArithmetic arithmetic(wanted);
      kernels::matmul({y[static_cast<int>(wanted)].data(), 1, 9, 9}, {x.data(), 1, 256, 256},
                      w.matrix());
    }
    CHECK((y[0] == y[1]) == (traits(w.dtype).block == 1));
    CHECK(worst_difference(y[0].data(), reference(w, x).data(), 9,
                           [&](index_t) { return allowed(w, x, 0); }) == "");
  }
}
