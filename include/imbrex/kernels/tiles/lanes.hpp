// Four floats at a time, in the vector extension that g++ and clang share: the portable kernels
// then use the baseline vectors of every platform, also in a build with nothing but -O2, where g++
// vectorises few loops by itself.
#pragma once

#include <cstdint>
#include <cstring>

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

using Lanes [[gnu::vector_size(16)]] = float;
using IntLanes [[gnu::vector_size(16)]] = std::int32_t;

inline constexpr index_t lane_count = 4;

/// `p` may have any alignment.
inline Lanes load(const void* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Lanes v) { std::memcpy(p, &v, sizeof v); }

inline Lanes broadcast(float x) { return Lanes{x, x, x, x}; }

/// The last n < 4 floats of a row, and zeros.
inline Lanes load_part(const float* p, index_t n) {
  return Lanes{n > 0 ? p[0] : 0.0f, n > 1 ? p[1] : 0.0f, n > 2 ? p[2] : 0.0f, 0.0f};
}

inline void store_part(float* p, Lanes v, index_t n) {
  if (n > 0) p[0] = v[0];
  if (n > 1) p[1] = v[1];
  if (n > 2) p[2] = v[2];
}

inline float sum(Lanes v) { return (v[0] + v[2]) + (v[1] + v[3]); }

/// y[i] = f(x[i]); y may be x. An element's value does not depend on where in the row it stands.
template <class F>
inline void map(index_t n, float* y, const float* x, F f) {
  index_t i = 0;
  for (; i + lane_count <= n; i += lane_count) store(y + i, f(load(x + i)));
  if (i < n) store_part(y + i, f(load_part(x + i, n - i)), n - i);
}

/// y[i] = f(a[i], b[i]); y may be a or b.
template <class F>
inline void map(index_t n, float* y, const float* a, const float* b, F f) {
  index_t i = 0;
  for (; i + lane_count <= n; i += lane_count) store(y + i, f(load(a + i), load(b + i)));
  if (i < n) store_part(y + i, f(load_part(a + i, n - i), load_part(b + i, n - i)), n - i);
}

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
