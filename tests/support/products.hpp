// Products of stored matrices with rows of x, for the tests of kernels that compute them: operands
// that end at unreadable pages, and a y whose surroundings are looked at.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"

namespace imbrex::tests {

/// A matrix and rows of x, each ending at a page that may not be read: encoded numbers, or for
/// formats without an encoder random bytes (bit 6 clear, so that a half is finite).
class Operands {
 public:
  Operands(Dtype dtype, index_t outputs, index_t inputs, index_t rows)
      : w_(static_cast<std::size_t>(outputs * row_bytes(dtype, inputs))),
        x_(static_cast<std::size_t>(rows * inputs) * sizeof(float)),
        matrix_{w_.data(), dtype, outputs, inputs, row_bytes(dtype, inputs)} {
    const std::vector<float> x = uniform(rows * inputs, 2), w = uniform(outputs * inputs, 3);
    std::memcpy(x_.data(), x.data(), x.size() * sizeof(float));
    if (dtype <= Dtype::q4_1 || dtype == Dtype::q8_0) {  // there is an encoder
      kernels::encode(dtype, w.data(), outputs * inputs, w_.data());
    } else {
      Random random(4);
      for (index_t i = 0; i < outputs * matrix_.row_bytes; ++i) {
        w_.data()[i] = static_cast<std::byte>(random() & 0xBFu);
      }
    }
  }

  float* x() const { return reinterpret_cast<float*>(x_.data()); }
  const kernels::Matrix& matrix() const { return matrix_; }

 private:
  GuardedBytes w_, x_;
  kernels::Matrix matrix_;
};

/// What is tested: y = x W^T + bias.
using Product = void (*)(kernels::Rows y, kernels::ConstRows x, const kernels::Matrix& w,
                         const float* bias);

/// The product for the last `outputs` rows of W and for rows of x from `first` on.
inline std::vector<float> product(Product multiply, const Operands& operands, index_t first,
                                  index_t rows, index_t outputs, const float* bias) {
  kernels::Matrix w = operands.matrix();
  w.data += (w.rows - outputs) * w.row_bytes;  // the last ones: they end at the page
  w.rows = outputs;
  // Rows of y lie apart, and the last one ends at a page that may not be written.
  const index_t stride = outputs + 3, count = (rows - 1) * stride + outputs;
  const GuardedBytes memory(static_cast<std::size_t>(count) * sizeof(float));
  float* y = reinterpret_cast<float*>(memory.data());
  for (index_t i = 0; i < count; ++i) y[i] = -7;
  multiply({y, rows, outputs, stride}, {operands.x() + first * w.cols, rows, w.cols, w.cols}, w,
           bias);
  std::vector<float> result;
  index_t touched = 0;
  for (index_t i = 0; i < count; ++i) {
    if (i % stride < outputs) {
      result.push_back(y[i]);
    } else if (y[i] != -7) {
      ++touched;
    }
  }
  CHECK(touched == 0);
  return result;
}

/// The same elements of the whole product.
inline std::vector<float> part(const std::vector<float>& whole, index_t whole_outputs,
                               index_t first, index_t rows, index_t outputs) {
  std::vector<float> result;
  for (index_t i = first; i < first + rows; ++i) {
    for (index_t o = whole_outputs - outputs; o < whole_outputs; ++o) {
      result.push_back(whole[static_cast<std::size_t>(i * whole_outputs + o)]);
    }
  }
  return result;
}

}  // namespace imbrex::tests
