// Products of stored matrices with rows of x, for the tests of kernels that compute them: operands
// that end at unreadable pages, and a y whose surroundings are looked at.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
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
  std::byte* stored() const { return w_.data(); }  ///< the matrix

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

/// Checks a kernel whose tile is of `rows` by `outputs`: one product larger than two tiles in both
/// directions by error_of(product, operands, rows, bias), which says what is wrong with it; every
/// smaller one has its bits, since an element depends on its row of x and its row of W alone.
template <class ErrorOf>
void check_around_tile(Product multiply, Dtype dtype, index_t inputs, index_t tile_rows,
                       index_t tile_outputs, const ErrorOf& error_of) {
  const index_t most_rows = 2 * tile_rows + 1, most_outputs = 2 * tile_outputs + 1;
  CAPTURE(std::string(name(dtype)));
  CAPTURE(inputs);
  const Operands operands(dtype, most_outputs, inputs, most_rows);
  const std::vector<float> bias = uniform(most_outputs, 5);
  const std::vector<float> whole =
      product(multiply, operands, 0, most_rows, most_outputs, bias.data());
  CHECK(error_of(whole, operands, most_rows, bias) == "");
  const auto check = [&](index_t rows, index_t outputs) {
    const index_t first = most_rows - rows;
    CAPTURE(rows);
    CAPTURE(outputs);
    CHECK(different_bits(product(multiply, operands, first, rows, outputs,
                                 bias.data() + most_outputs - outputs),
                         part(whole, most_outputs, first, rows, outputs)) == "");
  };
  for (index_t rows = 1; rows <= most_rows; ++rows) {
    for (const index_t o : {tile_outputs - 1, tile_outputs, tile_outputs + 1}) check(rows, o);
  }
  for (index_t outputs = 1; outputs <= most_outputs; ++outputs) {
    for (const index_t rows : {index_t{1}, tile_rows, tile_rows + 1}) check(rows, outputs);
  }
}

}  // namespace imbrex::tests
