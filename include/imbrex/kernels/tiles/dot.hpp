// Dot products and weighted sums of rows, the inner loops of gemv and of attention.
#pragma once

#include <cstddef>
#include <utility>

#include "imbrex/kernels/tiles/lanes.hpp"

namespace imbrex::kernels::tiles {

/// Sum of a[i] * b[i]; `a` may have any alignment. Four accumulators hide the latency of the
/// addition; they also make the rounding error grow with n/16 instead of n.
inline float dot(const std::byte* a, const float* b, index_t n) {
  Lanes sums[4] = {};
  index_t i = 0;
  for (; i + 16 <= n; i += 16) {
    sums[0] += load(a + i * 4) * load(b + i);
    sums[1] += load(a + i * 4 + 16) * load(b + i + 4);
    sums[2] += load(a + i * 4 + 32) * load(b + i + 8);
    sums[3] += load(a + i * 4 + 48) * load(b + i + 12);
  }
  for (; i + lane_count <= n; i += lane_count) sums[0] += load(a + i * 4) * load(b + i);
  float total = sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < n; ++i) {
    float x;
    std::memcpy(&x, a + i * 4, sizeof x);
    total += x * b[i];
  }
  return total;
}

/// Calls body(c) for c = 0 .. N - 1, each a constant: arrays that such an index picks from stay in
/// registers (left to itself at -O2, g++ keeps the loop and the array in memory).
template <int N, class Body>
inline void unrolled(Body body) {
  [body]<int... C>(std::integer_sequence<int, C...>) {
    (body(C), ...);
  }(std::make_integer_sequence<int, N>());
}

/// out[j] = sum of q[i] * rows[j * stride + i], for N rows at once. A row's result does not depend
/// on N.
template <int N>
inline void dots(float* out, const float* q, const float* rows, index_t stride, index_t n) {
  Lanes sums[N] = {};
  index_t i = 0;
  for (; i + lane_count <= n; i += lane_count) {
    const Lanes x = load(q + i);
    unrolled<N>([&](int j) { sums[j] += x * load(rows + j * stride + i); });
  }
  if (i < n) {
    const Lanes x = load_part(q + i, n - i);
    unrolled<N>([&](int j) { sums[j] += x * load_part(rows + j * stride + i, n - i); });
  }
  unrolled<N>([&](int j) { out[j] = sum(sums[j]); });
}

/// y[i] += sum over j < count of weights[j] * rows[j * stride + i], for i < 4 N: these columns stay
/// in registers while all the rows pass.
template <int N>
inline void add_weighted_columns(float* y, const float* weights, const float* rows, index_t stride,
                                 index_t count) {
  Lanes sums[N];
  unrolled<N>([&](int c) { sums[c] = load(y + c * lane_count); });
  for (index_t j = 0; j < count; ++j) {
    const Lanes w = broadcast(weights[j]);
    const float* row = rows + j * stride;
    unrolled<N>([&](int c) { sums[c] += w * load(row + c * lane_count); });
  }
  unrolled<N>([&](int c) { store(y + c * lane_count, sums[c]); });
}

/// The same for i < n.
inline void add_weighted(float* y, const float* weights, const float* rows, index_t stride,
                         index_t count, index_t n) {
  index_t i = 0;
  for (; i + 32 <= n; i += 32) add_weighted_columns<8>(y + i, weights, rows + i, stride, count);
  for (; i + 4 <= n; i += 4) add_weighted_columns<1>(y + i, weights, rows + i, stride, count);
  for (; i < n; ++i) {
    float s = y[i];
    for (index_t j = 0; j < count; ++j) s += weights[j] * rows[j * stride + i];
    y[i] = s;
  }
}

}  // namespace imbrex::kernels::tiles
