#include "imbrex/kernels/matmul.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/kernels/reference/matmul.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/compare.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::ConstRows, kernels::Matrix, kernels::Rows;

namespace {

// [[1 2 3] [4 5 6]] times the transpose of [[1 0 -1] [2 1 0]], plus (10, 20), by hand:
// 1 - 3 + 10 = 8, 2 + 2 + 20 = 24; 4 - 6 + 10 = 8, 8 + 5 + 20 = 33.
constexpr float hand_x[] = {1, 2, 3, 4, 5, 6}, hand_w[] = {1, 0, -1, 2, 1, 0};
constexpr float hand_bias[] = {10, 20};

struct HandResult {
  float y[4];
  friend constexpr bool operator==(const HandResult&, const HandResult&) = default;
};

constexpr HandResult hand_reference() {
  HandResult r{};
  kernels::reference::matmul({r.y, 2, 2, 2}, {hand_x, 2, 3, 3}, ConstRows{hand_w, 2, 3, 3},
                             hand_bias);
  return r;
}

static_assert(hand_reference() == HandResult{{8, 24, 8, 33}});

/// A stored matrix of random bytes. Bit 6 of every byte is clear: wherever a float, half or
/// bfloat16 lies, its exponent is then below that of 2, so it is finite.
struct Stored {
  std::vector<std::byte> bytes;
  Dtype dtype;
  index_t rows, cols, offset;

  Stored(Dtype d, index_t r, index_t c, std::uint64_t seed, index_t padding = 0)
      : dtype(d), rows(r), cols(c), offset(padding) {
    Random random(seed);
    bytes.resize(static_cast<std::size_t>(padding + r * row_bytes(d, c)));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0xBFu);
  }

  Matrix matrix() const {
    return {bytes.data() + offset, dtype, rows, cols, row_bytes(dtype, cols)};
  }
};

Matrix as_matrix(const std::vector<float>& w, index_t rows, index_t cols) {
  return {reinterpret_cast<const std::byte*>(w.data()), Dtype::f32, rows, cols, cols * 4};
}

std::vector<float> magnitudes(std::vector<float> v) {
  for (float& x : v) x = std::abs(x);
  return v;
}

/// For every output, the bound that matmul documents: (K/8 + 260) 2^-24 sum |x W|, where the sum
/// includes the bias (and half a unit of the reference's own rounding to float).
std::vector<double> bounds(const std::vector<float>& x, index_t rows, const Matrix& w,
                           const float* bias) {
  std::vector<float> decoded(static_cast<std::size_t>(w.rows * w.cols));
  for (index_t o = 0; o < w.rows; ++o) {
    kernels::decode(w.dtype, w.row(o), w.cols, decoded.data() + o * w.cols);
  }
  decoded = magnitudes(decoded);
  const std::vector<float> xs = magnitudes(x);
  std::vector<float> sums(static_cast<std::size_t>(rows * w.rows));
  kernels::reference::matmul({sums.data(), rows, w.rows, w.rows}, {xs.data(), rows, w.cols, w.cols},
                             ConstRows{decoded.data(), w.rows, w.cols, w.cols});
  std::vector<double> result;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double b = bias == nullptr ? 0 : std::abs(bias[i % static_cast<std::size_t>(w.rows)]);
    const double terms = static_cast<double>(w.cols) / 8 + 261;
    result.push_back(terms * unit_roundoff * (static_cast<double>(sums[i]) + b) + 1e-37);
  }
  return result;
}

void check_against_reference(const Matrix& w, index_t rows, bool with_bias) {
  const WithArithmetic arithmetic(Arithmetic::f32);
  const std::vector<float> x = uniform(rows * w.cols, 5), b = uniform(w.rows, 6);
  const float* bias = with_bias ? b.data() : nullptr;
  std::vector<float> got(static_cast<std::size_t>(rows * w.rows), -7.0f), want = got;
  const ConstRows in{x.data(), rows, w.cols, w.cols};
  kernels::matmul({got.data(), rows, w.rows, w.rows}, in, w, bias);
  kernels::reference::matmul({want.data(), rows, w.rows, w.rows}, in, w, bias);
  const std::vector<double> allowed = bounds(x, rows, w, bias);
  CAPTURE(std::string(name(w.dtype)));
  CAPTURE(rows);
  CAPTURE(w.rows);
  CAPTURE(w.cols);
  CHECK(worst_difference(got.data(), want.data(), rows * w.rows,
                         [&](index_t i) { return allowed[static_cast<std::size_t>(i)]; }) == "");
}

}  // namespace

TEST_CASE("matmul: an example by hand, in both regimes") {
  for (const index_t copies : {1, 5}) {  // 2 rows, and 10
    std::vector<float> x, want;
    for (index_t i = 0; i < copies; ++i) {
      x.insert(x.end(), hand_x, hand_x + 6);
      want.insert(want.end(), {8, 24, 8, 33});
    }
    std::vector<float> y(want.size());
    const std::vector<float> w(hand_w, hand_w + 6);
    kernels::matmul({y.data(), 2 * copies, 2, 2}, {x.data(), 2 * copies, 3, 3}, as_matrix(w, 2, 3),
                    hand_bias);
    CHECK(y == want);
  }
}

TEST_CASE("matmul: every length of sum and every number of outputs up to 33") {
  for (index_t n = 1; n <= 33; ++n) {
    for (const index_t rows : {1, 3, 4, 5, 33}) {
      check_against_reference(Stored(Dtype::f32, 7, n, 1).matrix(), rows, true);
      check_against_reference(Stored(Dtype::f32, n, 19, 2).matrix(), rows, false);
      check_against_reference(Stored(Dtype::f16, n, n, 3).matrix(), rows, false);
      check_against_reference(Stored(Dtype::bf16, n, 34 - n, 4).matrix(), rows, true);
    }
  }
}

TEST_CASE("matmul: every format, several blocks, more than one panel and chunk") {
  for (int d = 0; d < dtype_count; ++d) {
    const Dtype dtype = static_cast<Dtype>(d);
    const index_t block = traits(dtype).block;
    for (const index_t rows : {1, 4, 5, 31}) {
      check_against_reference(Stored(dtype, 67, 3 * block, 11).matrix(), rows, true);
    }
    check_against_reference(Stored(dtype, 65, block == 256 ? 768 : 16 * 32 + block, 12).matrix(),
                            kernels::tiles::gemm_chunk + 3, false);
  }
}

TEST_CASE("matmul: weights at an odd address") {
  for (const index_t rows : {2, 9}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::q8_0, Dtype::q6_k}) {
      check_against_reference(Stored(dtype, 5, 256, 13, 1).matrix(), rows, true);
    }
  }
}

TEST_CASE("matmul: sizes of zero") {
  const std::vector<float> bias{3, -4};
  for (const index_t rows : {2, 6}) {
    std::vector<float> y(static_cast<std::size_t>(rows * 2), 9.0f);
    const Matrix no_inputs{nullptr, Dtype::f32, 2, 0, 0};
    kernels::matmul({y.data(), rows, 2, 2}, {nullptr, rows, 0, 0}, no_inputs, bias.data());
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == bias[i % 2]);
    kernels::matmul({y.data(), rows, 2, 2}, {nullptr, rows, 0, 0}, no_inputs);
    for (const float v : y) CHECK(v == 0);

    const std::vector<float> x = uniform(rows * 3, 1);
    const Matrix no_outputs{nullptr, Dtype::f32, 0, 3, 12};
    kernels::matmul({nullptr, rows, 0, 0}, {x.data(), rows, 3, 3}, no_outputs);
  }
  const std::vector<float> w = uniform(6, 2);
  kernels::matmul({nullptr, 0, 2, 2}, {nullptr, 0, 3, 3}, as_matrix(w, 2, 3));
}

TEST_CASE("matmul: strides are obeyed and what lies between rows is left alone") {
  const index_t cols = 40, outputs = 70, x_stride = 47, y_stride = 75;
  const Stored w(Dtype::f32, outputs, cols, 21);
  for (const index_t rows : {3, 35}) {
    const std::vector<float> x = uniform(rows * x_stride, 22);
    std::vector<float> tight_x, y(static_cast<std::size_t>(rows * y_stride), 5.0f);
    for (index_t i = 0; i < rows; ++i) {
      tight_x.insert(tight_x.end(), x.begin() + i * x_stride, x.begin() + i * x_stride + cols);
    }
    std::vector<float> tight(static_cast<std::size_t>(rows * outputs));
    kernels::matmul({y.data(), rows, outputs, y_stride}, {x.data(), rows, cols, x_stride},
                    w.matrix());
    kernels::matmul({tight.data(), rows, outputs, outputs}, {tight_x.data(), rows, cols, cols},
                    w.matrix());
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < y_stride; ++j) {
        const float want = j < outputs ? tight[static_cast<std::size_t>(i * outputs + j)] : 5.0f;
        CHECK(y[static_cast<std::size_t>(i * y_stride + j)] == want);
      }
    }
  }
}

TEST_CASE("matmul: the same bits for any number of threads") {
  const Stored w(Dtype::q8_0, 300, 288, 31), narrow(Dtype::f32, 3, 20000, 32);
  for (const index_t rows : {1, 3, 70, 300}) {
    for (const Stored* stored : {&w, &narrow}) {
      const Matrix m = stored->matrix();
      const std::vector<float> x = uniform(rows * m.cols, 33);
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 8, 64}) {
        set_threads(threads);
        std::vector<float> y(static_cast<std::size_t>(rows * m.rows));
        kernels::matmul({y.data(), rows, m.rows, m.rows}, {x.data(), rows, m.cols, m.cols}, m);
        if (first.empty()) first = y;
        CHECK(different_bits(y, first) == "");
      }
      set_threads(0);
    }
  }
}

TEST_CASE("matmul: a row alone and in company agree within the bound") {
  const WithArithmetic arithmetic(Arithmetic::f32);
  const Stored stored(Dtype::q4_k, 66, 1024, 41);
  const Matrix w = stored.matrix();
  const index_t rows = 37;
  const std::vector<float> x = uniform(rows * w.cols, 42);
  std::vector<float> together(static_cast<std::size_t>(rows * w.rows)), alone = together,
                                                                        few = alone;
  kernels::matmul({together.data(), rows, w.rows, w.rows}, {x.data(), rows, w.cols, w.cols}, w);
  for (index_t i = 0; i < rows; ++i) {
    kernels::matmul({alone.data() + i * w.rows, 1, w.rows, w.rows},
                    {x.data() + i * w.cols, 1, w.cols, w.cols}, w);
  }
  const std::vector<double> allowed = bounds(x, rows, w, nullptr);
  CHECK(worst_difference(together.data(), alone.data(), rows * w.rows, [&](index_t i) {
          return 2 * allowed[static_cast<std::size_t>(i)];
        }) == "");
  // Among few rows the bits are those of the row alone.
  for (index_t i = 0; i + 3 <= rows; i += 3) {
    kernels::matmul({few.data() + i * w.rows, 3, w.rows, w.rows},
                    {x.data() + i * w.cols, 3, w.cols, w.cols}, w);
  }
  few.resize(static_cast<std::size_t>(36 * w.rows));
  alone.resize(few.size());
  CHECK(different_bits(few, alone) == "");
}
