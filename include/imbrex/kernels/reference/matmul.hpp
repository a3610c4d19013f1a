// The product with a weight matrix as plain loops, summed in double.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/decode.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// y[t][o] = sum over k of x[t][k] w[o][k], + bias[o] unless bias is null.
constexpr void matmul(Rows y, ConstRows x, ConstRows w, const float* bias = nullptr) {
  for (index_t t = 0; t < x.rows; ++t) {
    for (index_t o = 0; o < w.rows; ++o) {
      double sum = bias == nullptr ? 0.0 : static_cast<double>(bias[o]);
      for (index_t k = 0; k < x.cols; ++k) {
        sum += static_cast<double>(x.row(t)[k]) * static_cast<double>(w.row(o)[k]);
      }
      y.row(t)[o] = static_cast<float>(sum);
    }
  }
}

/// The same with stored weights: each row is decoded, then multiplied.
inline void matmul(Rows y, ConstRows x, const Matrix& w, const float* bias = nullptr) {
  float* weights = new float[static_cast<std::size_t>(w.cols)];
  for (index_t o = 0; o < w.rows; ++o) {
    decode(w.dtype, w.row(o), w.cols, weights);
    matmul(Rows{y.data + o, y.rows, 1, y.stride}, x, ConstRows{weights, 1, w.cols, w.cols},
           bias == nullptr ? nullptr : bias + o);
  }
  delete[] weights;
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
