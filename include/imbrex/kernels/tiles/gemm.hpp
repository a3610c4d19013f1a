// A block of the product of many rows with a stored weight matrix: weights of any format are
// decoded panel by panel into floats on the stack, and the panels multiplied by Eigen.
//
// Eigen must not thread by itself: its result would change with its thread count, and a team would
// start inside ours. It threads a product only where the result has more than 32 rows or an
// unbounded number of them at compile time; so results here are typed with at most 32 rows, and
// neither its settings nor OpenMP's matter. All sizes are bounded at compile time, so it packs its
// operands on the stack and allocates nothing.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/quant/decode.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

inline constexpr index_t gemm_rows = 32;     ///< rows of x in a product; Eigen threads above 32
inline constexpr index_t gemm_outputs = 64;  ///< weight rows of a panel,
inline constexpr index_t gemm_inputs = 256;  ///< and its columns, a block of the largest formats:
                                             ///< 64 kB, and as much packed, in second-level cache
inline constexpr index_t gemm_chunk = 256;   ///< rows of x that share a decoded panel: decoding is
                                             ///< then 1/256 of the multiplications

template <index_t Rows, index_t Cols>
using Bounded = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor,
                              static_cast<int>(Rows), static_cast<int>(Cols)>;
using Stride = Eigen::OuterStride<>;
using ConstPanel = Eigen::Map<const Bounded<gemm_outputs, gemm_inputs>, Eigen::Unaligned, Stride>;
template <index_t MostRows>
using ConstInputs = Eigen::Map<const Bounded<MostRows, gemm_inputs>, Eigen::Unaligned, Stride>;
template <index_t MostRows>
using Outputs = Eigen::Map<Bounded<MostRows, gemm_outputs>, Eigen::Unaligned, Stride>;

/// Some weights in float: `outputs` rows of `inputs`, `stride` floats apart.
struct Panel {
  const float* data;
  index_t outputs, inputs, stride;
};

/// The weights [o, o + outputs) x [k, k + inputs), where they lie if they are floats that can be
/// read there, else decoded into `room`.
inline Panel load_panel(const Matrix& w, index_t o, index_t outputs, index_t k, index_t inputs,
                        float* room) {
  const std::byte* start = w.row(o) + row_bytes(w.dtype, k);
  constexpr index_t size = sizeof(float);
  if (w.dtype == Dtype::f32 && w.row_bytes % size == 0 &&
      reinterpret_cast<std::uintptr_t>(start) % alignof(float) == 0) {
    return {reinterpret_cast<const float*>(start), outputs, inputs, w.row_bytes / size};
  }
  for (index_t i = 0; i < outputs; ++i) {
    decode(w.dtype, start + i * w.row_bytes, inputs, room + i * gemm_inputs);
  }
  return {room, outputs, inputs, gemm_inputs};
}

/// y += x W^T for at most MostRows rows. (A template, like what calls it, so that Eigen's product
/// is compiled where it is used, and not wherever it is included.)
template <index_t MostRows>
void multiply_panel(float* y, index_t y_stride, const float* x, index_t x_stride, index_t rows,
                    const Panel& w) {
  const auto index = [](index_t i) { return static_cast<Eigen::Index>(i); };
  Outputs<MostRows> out(y, index(rows), index(w.outputs), Stride(index(y_stride)));
  const ConstInputs<MostRows> in(x, index(rows), index(w.inputs), Stride(index(x_stride)));
  const ConstPanel weights(w.data, index(w.outputs), index(w.inputs), Stride(index(w.stride)));
  out.noalias() += in * weights.transpose();
}

/// Rows [t, t + rows) of the outputs [o, o + outputs); k in a fixed order.
template <index_t MostRows = gemm_rows>
void gemm(Rows y, ConstRows x, const Matrix& w, const float* bias, index_t t, index_t rows,
          index_t o, index_t outputs) {
  for (index_t i = t; i < t + rows; ++i) {
    for (index_t j = o; j < o + outputs; ++j) y.row(i)[j] = bias == nullptr ? 0.0f : bias[j];
  }
  alignas(64) float room[gemm_outputs * gemm_inputs];
  for (index_t k = 0; k < w.cols; k += gemm_inputs) {
    const Panel weights = load_panel(w, o, outputs, k, lesser(gemm_inputs, w.cols - k), room);
    for (index_t i = t; i < t + rows; i += MostRows) {
      multiply_panel<MostRows>(y.row(i) + o, y.stride, x.row(i) + k, x.stride,
                               lesser(MostRows, t + rows - i), weights);
    }
  }
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
