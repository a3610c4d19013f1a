// The product of a few rows, and the proof of which instruction set computed it.
#include "imbrex/kernels/gemv.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/kernels/reference/matmul.hpp"
#include "tests/message_of.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::Matrix;

namespace {

/// Four outputs, each the sum of 2^24, 1 and -2^24 among zeros. 2^24 + 1 is no float: it rounds to
/// 2^24, so the order of the additions shows. The sets' f32 dot adds x[i] to sum i mod 16 (scalar,
/// neon), i mod 32 (avx2) or i mod 64 (avx512), within a sum by rising i, then the sums to one
/// another; at last lanes 0 to 3 of a vector, neighbours first (neon) or every second one.
///
///     2^24 at 0, 1 at 16, -2^24 at 32    scalar, neon: one sum, (2^24 + 1) - 2^24 = 0
///                                        avx2: sum 0 is 2^24 - 2^24, sum 16 is 1; 1
///                                        avx512: sums 0, 16, 32; (2^24 + 1) + (-2^24 + 0) = 0
///     2^24 at 0, -2^24 at 16, 1 at 64    scalar, neon: one sum, (2^24 - 2^24) + 1 = 1
///                                        avx2, avx512: sum 0 is 2^24 + 1; then -2^24; 0
///     2^24 at 0, 1 at 1, -2^24 at 2      neon: (2^24 + 1) + (-2^24 + 0) = 0
///                                        others: (2^24 - 2^24) + (1 + 0) = 1
///     1 at 0                             1
///
/// amx has the dot products of avx512.
struct Telling {
  static constexpr index_t n = 128;
  std::vector<float> w = std::vector<float>(4 * n), x = std::vector<float>(n, 1.0f);

  Telling() {
    w[0] = 0x1p24f, w[16] = 1, w[32] = -0x1p24f;
    w[n] = 0x1p24f, w[n + 16] = -0x1p24f, w[n + 64] = 1;
    w[2 * n] = 0x1p24f, w[2 * n + 1] = 1, w[2 * n + 2] = -0x1p24f;
    w[3 * n] = 1;
  }

  std::vector<float> product() const {
    std::vector<float> y(4);
    const Matrix m{reinterpret_cast<const std::byte*>(w.data()), Dtype::f32, 4, n, 4 * n};
    kernels::gemv({y.data(), 1, 4, 4}, {x.data(), 1, n, n}, m, nullptr);
    return y;
  }

  static std::vector<float> expected(Isa isa) {
    if (isa == Isa::avx512 || isa == Isa::amx) return {0, 0, 1, 1};
    if (isa == Isa::avx2) return {1, 0, 1, 1};
    if (isa == Isa::neon) return {0, 1, 0, 1};
    return {0, 1, 1, 1};
  }
};

/// A matrix of whole blocks in any format: encoded, or for formats without an encoder random bytes
/// (bit 6 clear, so that a half's exponent is below that of 2).
struct Stored {
  std::vector<std::byte> bytes;
  Dtype dtype;
  index_t rows, cols;

  Stored(Dtype d, index_t r, index_t c, std::uint64_t seed) : dtype(d), rows(r), cols(c) {
    bytes.resize(static_cast<std::size_t>(r * row_bytes(d, c)));
    if (d <= Dtype::q4_1 || d == Dtype::q8_0) {
      const std::vector<float> w = uniform(r * c, seed);
      kernels::encode(d, w.data(), r * c, bytes.data());
    } else {
      Random random(seed);
      for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0xBFu);
    }
  }

  Matrix matrix() const { return {bytes.data(), dtype, rows, cols, row_bytes(dtype, cols)}; }
  std::vector<float> decoded() const {
    std::vector<float> w(static_cast<std::size_t>(rows * cols));
    kernels::decode(dtype, bytes.data(), rows * cols, w.data());
    return w;
  }
};

std::vector<float> product(const Matrix& w, const std::vector<float>& x, index_t rows,
                           const float* bias = nullptr) {
  std::vector<float> y(static_cast<std::size_t>(rows * w.rows), -7.0f);
  kernels::gemv({y.data(), rows, w.rows, w.rows}, {x.data(), rows, w.cols, w.cols}, w, bias);
  return y;
}

}  // namespace

TEST_CASE("gemv: the bits say that the set asked for is the one that ran") {
  const Telling telling;
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CHECK(std::string(kernels::active_kernels().name) == name(isa));
    CHECK(telling.product() == Telling::expected(isa));
  }
}

// Run by itself with IMBREX_ISA set to each name there is, and to one there is not (see
// tests/CMakeLists.txt): the choice is made once in a process.
TEST_CASE("gemv: what IMBREX_ISA names is what runs") {
  const char* value = std::getenv("IMBREX_ISA");
  const std::string wanted = value == nullptr ? "" : value;
  const int named = set_of_environment();
  const Telling telling;
  if (wanted.empty()) {
    CHECK(telling.product() == Telling::expected(available_sets().back()));
  } else if (named >= 0 && available(static_cast<Isa>(named))) {
    CHECK(telling.product() == Telling::expected(static_cast<Isa>(named)));
    CHECK(std::string(kernels::active_kernels().name) == wanted);
  } else {
    const std::string message = message_of<ConfigError>([&] { telling.product(); });
    const bool right = message.starts_with("IMBREX_ISA = " + wanted +
                                           ": expected one that this machine has: scalar");
    CHECK(right);
    // What tests/CMakeLists.txt lists as skipped.
    if (right && named >= 0) MESSAGE("skipped: this machine has no " << wanted);
  }
}

TEST_CASE("gemv: an output is the dot product of the set, bit for bit") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    const kernels::Kernels& table = kernels::kernels_of(isa);
    for (int d = 0; d < dtype_count; ++d) {
      const kernels::Dot dot = table.dot[d];
      if (dot == nullptr) continue;
      const Stored w(static_cast<Dtype>(d), 37, 256, 1);
      const std::vector<float> x = uniform(3 * 256, 2), y = product(w.matrix(), x, 3);
      std::vector<float> expected;
      for (index_t t = 0; t < 3; ++t) {
        for (index_t o = 0; o < 37; ++o) {
          expected.push_back(dot(w.matrix().row(o), x.data() + t * 256, 256));
        }
      }
      CHECK(different_bits(y, expected) == "");
    }
  }
}

// Formats without a dot product of their own are decoded 256 numbers at a time. A term is rounded
// as a product, in one of at least 8 interleaved sums of a run (32 additions and 10 at the ends of
// it), and once for each run; the bias is one addition more.
TEST_CASE("gemv: every format on every set, against plain loops in double") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    for (int d = 0; d < dtype_count; ++d) {
      for (const index_t cols : {256, 1280}) {
        for (const index_t rows : {1, 2, 4}) {
          const Stored w(static_cast<Dtype>(d), 45, cols, 3);
          const std::vector<float> x = uniform(rows * cols, 4), bias = uniform(45, 5);
          const std::vector<float> decoded = w.decoded(),
                                   y = product(w.matrix(), x, rows, bias.data());
          std::vector<float> expected(y.size());
          kernels::reference::matmul({expected.data(), rows, 45, 45}, {x.data(), rows, cols, cols},
                                     w.matrix(), bias.data());
          CAPTURE(std::string(name(isa)));
          CAPTURE(std::string(name(w.dtype)));
          CHECK(worst_difference(y.data(), expected.data(), rows * 45, [&](index_t i) {
                  double sum = std::abs(double{bias[static_cast<std::size_t>(i % 45)]});
                  for (index_t k = 0; k < cols; ++k) {
                    sum += std::abs(double{x[static_cast<std::size_t>(i / 45 * cols + k)]} *
                                    double{decoded[static_cast<std::size_t>(i % 45 * cols + k)]});
                  }
                  const double terms = static_cast<double>(cols) / 8 + 12 + 5;
                  return terms * unit_roundoff * sum;
                }) == "");
        }
      }
    }
  }
}

TEST_CASE("gemv: the same bits for any number of threads, on every set") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    for (const Dtype dtype : {Dtype::f32, Dtype::q8_0, Dtype::q4_1, Dtype::q6_k}) {
      const Stored w(dtype, 333, 512, 6);
      const std::vector<float> x = uniform(2 * 512, 7);
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 8}) {
        set_threads(threads);
        const std::vector<float> y = product(w.matrix(), x, 2);
        if (first.empty()) first = y;
        CHECK(different_bits(y, first) == "");
      }
      set_threads(0);
    }
  }
}

TEST_CASE("gemv: three rows on 1 to 64 threads") {
  const Stored w(Dtype::q4_0, 3, 256, 10);
  const std::vector<float> x = uniform(256, 11);
  const std::vector<float> one = [&] {
    set_threads(1);
    return product(w.matrix(), x, 1);
  }();
  for (int threads = 2; threads <= 64; ++threads) {
    set_threads(threads);
    CHECK_MESSAGE(different_bits(product(w.matrix(), x, 1), one) == "", threads);
  }
  set_threads(0);
}

TEST_CASE("gemv: strides of x and y are obeyed, and sizes of zero") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    const Stored w(Dtype::f32, 5, 19, 8);
    const std::vector<float> x = uniform(2 * 23, 9);
    std::vector<float> y(2 * 8, 5.0f);
    kernels::gemv({y.data(), 2, 5, 8}, {x.data(), 2, 19, 23}, w.matrix(), nullptr);
    for (index_t t = 0; t < 2; ++t) {
      for (index_t o = 0; o < 8; ++o) {
        const float expected =
            o < 5 ? kernels::kernels_of(isa).dot[0](w.matrix().row(o), x.data() + 23 * t, 19) : 5;
        CHECK(y[static_cast<std::size_t>(8 * t + o)] == expected);
      }
    }
    const std::vector<float> bias{1, 2};
    const Matrix no_inputs{nullptr, Dtype::q8_0, 2, 0, 0},
        no_outputs{nullptr, Dtype::f32, 0, 3, 12};
    CHECK(product(no_inputs, {}, 2, bias.data()) == std::vector<float>{1, 2, 1, 2});
    CHECK(product(no_outputs, {1, 2, 3}, 1).empty());
  }
}
