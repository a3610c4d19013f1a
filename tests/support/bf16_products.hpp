// What products in bf16 are held to, in tiles or in pairs.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/base/bf16.hpp"
#include "imbrex/kernels/quant/decode.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/products.hpp"

namespace imbrex::tests {

/// Numbers as these products have them: in bf16, and not subnormal.
inline std::vector<float> rounded_to_bf16(const float* numbers, index_t count) {
  std::vector<float> result;
  for (index_t i = 0; i < count; ++i) {
    const float v = to_float(to_bf16(numbers[i]));
    result.push_back(std::abs(v) < 0x1p-126f ? 0 : v);
  }
  return result;
}

/// What is wrong with a product against plain loops in double over rounded numbers. Products are
/// exact. A term goes through an addition for each input at most (in tiles 16 for 32 inputs and two
/// more, by the SDM's operation), one for each run, and that of the bias; and the sum becomes a
/// float.
inline std::string error_in_bf16(const std::vector<float>& got, const Operands& operands,
                                 index_t rows, const std::vector<float>& bias) {
  const kernels::Matrix& w = operands.matrix();
  std::vector<float> decoded(static_cast<std::size_t>(w.rows * w.cols)), want(got.size());
  kernels::decode(w.dtype, w.data, w.rows * w.cols, decoded.data());
  const std::vector<float> x_rounded = rounded_to_bf16(operands.x(), rows * w.cols),
                           w_rounded = rounded_to_bf16(decoded.data(), w.rows * w.cols);
  std::vector<double> allowed;
  for (index_t t = 0; t < rows; ++t) {
    for (index_t o = 0; o < w.rows; ++o) {
      double sum = double{bias[static_cast<std::size_t>(o)]}, magnitude = std::abs(sum);
      for (index_t k = 0; k < w.cols; ++k) {
        const double term = double{x_rounded[static_cast<std::size_t>(t * w.cols + k)]} *
                            double{w_rounded[static_cast<std::size_t>(o * w.cols + k)]};
        sum += term, magnitude += std::abs(term);
      }
      want[static_cast<std::size_t>(t * w.rows + o)] = static_cast<float>(sum);
      allowed.push_back(static_cast<double>(w.cols + 4) * unit_roundoff * magnitude);
    }
  }
  return worst_difference(got.data(), want.data(), rows * w.rows,
                          [&](index_t i) { return allowed[static_cast<std::size_t>(i)]; });
}

/// Halves to even: 1 + 2^-8 is 1 and 1 + 3 2^-8 is 1 + 2^-6 in bf16. 2^-127, stored or in x, is 0.
inline void check_bf16_rounding(Product multiply) {
  const float x[] = {1 + 0x1p-8f, 1 + 0x3p-8f, 1 + 0x1p-7f, 0x1p-127f, 0x1p-126f};
  const bf16 w[] = {to_bf16(1), to_bf16(0x1p-127f)};
  const auto* bytes = reinterpret_cast<const std::byte*>(w);
  const float bias[] = {0, 8};
  float y[10];
  multiply({y, 5, 2, 2}, {x, 5, 1, 1}, {bytes, Dtype::bf16, 2, 1, 2}, bias);
  CHECK(std::vector<float>(y, y + 10) ==
        std::vector<float>{1, 8, 1 + 0x1p-6f, 8, 1 + 0x1p-7f, 8, 0, 8, 0x1p-126f, 8});
}

/// An infinity in a row of x, and a NaN in one of W, come through and reach no other element.
inline void check_bf16_infinities(Product multiply) {
  const float infinity = std::numeric_limits<float>::infinity();
  const index_t rows = 18, outputs = 35, inputs = 40;
  std::vector<float> x(static_cast<std::size_t>(rows * inputs), 1.0f),
      y(static_cast<std::size_t>(rows * outputs));
  std::vector<bf16> w(static_cast<std::size_t>(outputs * inputs), to_bf16(1));
  x[3 * 40 + 7] = infinity;                  // row 3
  w[34 * 40 + 39] = to_bf16(std::nanf(""));  // output 34
  const auto* bytes = reinterpret_cast<const std::byte*>(w.data());
  multiply({y.data(), rows, outputs, outputs}, {x.data(), rows, inputs, inputs},
           {bytes, Dtype::bf16, outputs, inputs, 80}, nullptr);
  for (index_t t = 0; t < rows; ++t) {
    for (index_t o = 0; o < outputs; ++o) {
      const float v = y[static_cast<std::size_t>(t * outputs + o)];
      CHECK((o == 34 ? std::isnan(v) : v == (t == 3 ? infinity : 40.0f)));
    }
  }
}

/// Without inputs y is the bias; without rows or outputs nothing is touched.
inline void check_bf16_sizes_of_zero(Product multiply, Dtype dtype = Dtype::bf16) {
  const index_t bytes = row_bytes(dtype, 32);
  const std::vector<float> bias{3, -4};
  std::vector<float> y(12, 9.0f), x(6 * 32, 1.0f);
  multiply({y.data(), 6, 2, 2}, {nullptr, 6, 0, 0}, {nullptr, dtype, 2, 0, 0}, bias.data());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == bias[i % 2]);
  multiply({nullptr, 6, 0, 0}, {x.data(), 6, 32, 32}, {nullptr, dtype, 0, 32, bytes}, nullptr);
  multiply({nullptr, 0, 2, 2}, {nullptr, 0, 32, 32}, {nullptr, dtype, 2, 32, bytes}, nullptr);
}

}  // namespace imbrex::tests
