// Stored weight matrices as a model has them: many, so that each product finds its own in memory
// and not in a cache; and the check of a product with one.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "bench/harness.hpp"
#include "imbrex/base/arithmetic.hpp"
#include "imbrex/base/dtype.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/kernels/gemm.hpp"
#include "imbrex/kernels/gemm_bf16.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/kernels/reference/matmul.hpp"
#include "imbrex/kernels/reference/round_activations.hpp"
#include "imbrex/tensor/buffer.hpp"

namespace bench {

using imbrex::Dtype;
namespace kernels = imbrex::kernels;

/// Different rows of a format; a matrix repeats them. A prime number, so that no two of its tiles
/// hold the same.
inline constexpr index_t different_rows = 61;

/// The bytes of the different rows: normal numbers encoded, or for formats without an encoder
/// random bytes, bit 6 of each clear, so that a half is finite wherever it lies.
inline imbrex::Buffer<std::byte> random_rows(Dtype dtype, index_t cols) {
  imbrex::Random random(1);
  imbrex::Buffer<std::byte> bytes(different_rows * imbrex::row_bytes(dtype, cols));
  if (dtype <= Dtype::q4_1 || dtype == Dtype::q8_0) {
    std::vector<float> numbers(static_cast<std::size_t>(different_rows * cols));
    for (float& v : numbers) v = random.normal();
    kernels::encode(dtype, numbers.data(), different_rows * cols, bytes.data());
  } else {
    for (index_t i = 0; i < bytes.size(); ++i) {
      bytes.data()[i] = static_cast<std::byte>(random() & 0xBFu);
    }
  }
  return bytes;
}

/// Memory with rows of one format and length, one after the other. All matrices of a program are in
/// it, as it is large; it is filled anew only where rows of another kind, or more, are wanted.
struct RowStore {
  imbrex::Buffer<std::byte> bytes;
  Dtype dtype = Dtype::f32;
  index_t cols = 0, rows = 0;

  void fill(Dtype wanted, index_t wanted_cols, index_t wanted_rows) {
    if (wanted == dtype && wanted_cols == cols && wanted_rows <= rows) return;
    dtype = wanted, cols = wanted_cols, rows = wanted_rows;
    const index_t stride = imbrex::row_bytes(dtype, cols), period = different_rows * stride;
    const imbrex::Buffer<std::byte> from = random_rows(dtype, cols);
    if (bytes.size() < rows * stride) bytes = {};  // first, or there would be both for a while
    if (bytes.size() < rows * stride) bytes = imbrex::Buffer<std::byte>(rows * stride);
    for (index_t at = 0; at < rows * stride; at += period) {
      std::memcpy(bytes.data() + at, from.data(),
                  static_cast<std::size_t>(imbrex::lesser(period, rows * stride - at)));
    }
  }
};

inline RowStore& row_store() {
  static RowStore store;
  return store;
}

/// Matrices [rows, cols] of a format, as many as make up `spread` bytes, at least one. `next` goes
/// round them.
class Matrices {
 public:
  Matrices(Dtype dtype, index_t rows, index_t cols, index_t spread = cold_bytes()) {
    const index_t stride = imbrex::row_bytes(dtype, cols);
    copies_ = imbrex::greater(1, imbrex::ceil_div(spread, rows * stride));
    row_store().fill(dtype, cols, copies_ * rows);
    matrix_ = {nullptr, dtype, rows, cols, stride};
  }

  kernels::Matrix next() {
    at_ = at_ + 1 == copies_ ? 0 : at_ + 1;
    kernels::Matrix matrix = matrix_;
    matrix.data = row_store().bytes.data() + at_ * bytes();
    return matrix;
  }

  /// Bytes of one matrix.
  index_t bytes() const { return matrix_.rows * matrix_.row_bytes; }

 private:
  kernels::Matrix matrix_{};
  index_t copies_ = 1, at_ = 0;
};

/// The Euclidean norm of the longest of `rows` rows.
inline double longest(const float* x, index_t rows, index_t cols) {
  double most = 0;
  for (index_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (index_t j = 0; j < cols; ++j) squares += double{x[i * cols + j]} * double{x[i * cols + j]};
    most = (std::max)(most, squares);
  }
  return std::sqrt(most);
}

/// Whether products of many rows with a format round x to bf16, where x may be rounded.
inline bool in_bf16(Dtype dtype) {
  const kernels::Kernels& set = kernels::active_kernels();
  return kernels::has_gemm_bf16(set, dtype) || kernels::has_gemm_pairs(set, dtype);
}

/// Whether y = x W^T, by the reference: all of the first, a middle and the last row, and all rows'
/// first, middle and last element. The bound is that of `matmul`, with sum |x w| <= |x| |w|; where
/// x may be rounded to int8, each of 32 numbers is off by d / 2 with d = max |x| / 127 <= |x| /
/// 127, so that all are by sqrt(32) / 254 |x| at most (and 1 % for roundings of that). That is more
/// than rounding x and weights to bf16 makes of them, 2^-7 and a little; x alone, with BF16
/// weights, is off by 2^-8 there.
inline bool right_product(benchmark::State& state, const kernels::Rows& y,
                          const kernels::ConstRows& x, const kernels::Matrix& w) {
  const index_t some = imbrex::lesser(w.rows, different_rows);
  std::vector<float> weights(static_cast<std::size_t>(some * w.cols));
  kernels::decode(w.dtype, w.data, some * w.cols, weights.data());
  const double length = longest(x.data, x.rows, x.cols) * longest(weights.data(), some, w.cols);
  const bool quantised = imbrex::traits(w.dtype).block > 1;
  const double if_rounded = quantised          ? 1.01 * std::sqrt(32.0) / 254
                            : in_bf16(w.dtype) ? 0x1.03p-8
                                               : 0;
  const double of_rounding =
      imbrex::active_arithmetic() == imbrex::Arithmetic::int8 ? if_rounded : 0;
  const auto allowed = [&](index_t) {
    const double of_sums = static_cast<double>(w.cols) / 8 + 260;
    return (of_sums * imbrex::tests::unit_roundoff + of_rounding) * length;
  };
  std::vector<float> want(static_cast<std::size_t>(imbrex::greater(w.rows, x.rows)));
  for (const index_t t : {index_t{0}, x.rows / 2, x.rows - 1}) {
    kernels::reference::matmul({want.data(), 1, w.rows, w.rows}, {x.row(t), 1, x.cols, x.cols}, w);
    if (!right(state, y.row(t), want.data(), w.rows, allowed)) return false;
  }
  std::vector<float> got(static_cast<std::size_t>(x.rows));
  for (const index_t o : {index_t{0}, w.rows / 2, w.rows - 1}) {
    const kernels::Matrix row{w.row(o), w.dtype, 1, w.cols, w.row_bytes};
    kernels::reference::matmul({want.data(), x.rows, 1, 1}, x, row);
    for (index_t t = 0; t < x.rows; ++t) got[static_cast<std::size_t>(t)] = y.row(t)[o];
    if (!right(state, got.data(), want.data(), x.rows, allowed)) return false;
  }
  return true;
}

/// Numbers as the rule for int8 activations rounds them, q d.
inline imbrex::Buffer<float> rounded(const imbrex::Buffer<float>& x) {
  const index_t n = x.size(), blocks = n / kernels::rounded_block;
  std::vector<std::int8_t> q(static_cast<std::size_t>(n));
  std::vector<float> d(static_cast<std::size_t>(blocks));
  std::vector<std::int32_t> sum(static_cast<std::size_t>(blocks));
  kernels::reference::round_activations(x.data(), n, {q.data(), d.data(), sum.data()});
  imbrex::Buffer<float> result(n);
  for (index_t i = 0; i < n; ++i) {
    result.data()[i] = static_cast<float>(q[static_cast<std::size_t>(i)]) *
                       d[static_cast<std::size_t>(i / kernels::rounded_block)];
  }
  return result;
}

/// Times product(y, x, w) for `rows` rows of x, the matrix another one each time. In int8 the
/// answer is held against that of rounded x; in bf16, to that of x itself.
template <class Product>
void time_product(benchmark::State& state, index_t rows, Matrices matrices, const Product& product,
                  imbrex::Arithmetic arithmetic = imbrex::Arithmetic::f32) {
  kernels::Matrix w = matrices.next();
  imbrex::Random random(2);
  imbrex::Buffer<float> in(rows * w.cols), out(rows * w.rows);
  for (index_t i = 0; i < in.size(); ++i) in.data()[i] = random.normal();
  const kernels::ConstRows x{in.data(), rows, w.cols, w.cols};
  const kernels::Rows y{out.data(), rows, w.rows, w.rows};
  product(y, x, w);
  const bool in_int8 = arithmetic == imbrex::Arithmetic::int8 && !in_bf16(w.dtype);
  const imbrex::Buffer<float> seen = in_int8 ? rounded(in) : imbrex::Buffer<float>();
  if (!right_product(state, y, in_int8 ? kernels::ConstRows{seen.data(), rows, w.cols, w.cols} : x,
                     w)) {
    return;
  }
  for ([[maybe_unused]] auto _ : state) {
    product(y, x, matrices.next());
    benchmark::ClobberMemory();
  }
  count(state, 2.0 * static_cast<double>(rows * w.rows) * static_cast<double>(w.cols),
        static_cast<double>(matrices.bytes()));
}

}  // namespace bench
