// Operands of attention for tests, and its results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/f16.hpp"
#include "imbrex/kernels/attention.hpp"
#include "imbrex/kernels/reference/attention.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"

namespace imbrex::tests {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Sizes, operands in [Tq][H][d] and [Tk][K][d], and results.
struct AttentionProblem {
  index_t queries, keys, heads, kv_heads, head_dim, value_dim;
  std::vector<float> q, k, v, out, lse;
  Mask mask{};
  float scale = 1, soft_cap = 0;

  AttentionProblem(index_t tq, index_t tk, index_t h, index_t kv, index_t d, index_t dv = 0)
      : queries(tq), keys(tk), heads(h), kv_heads(kv), head_dim(d), value_dim(dv == 0 ? d : dv) {
    q = uniform(tq * h * d, 1);
    k = uniform(tk * kv * d, 2);
    v = uniform(tk * kv * value_dim, 3);
    out.assign(static_cast<std::size_t>(tq * h * value_dim), not_a_number);
    lse.assign(static_cast<std::size_t>(tq * h), not_a_number);
    scale = 1 / std::sqrt(static_cast<float>(d));
  }

  kernels::AttentionArgs args() {
    return {.out = {out.data(), queries, heads, value_dim, heads * value_dim, value_dim},
            .q = {q.data(), queries, heads, head_dim, heads * head_dim, head_dim},
            .keys = k.data(),
            .values = v.data(),
            .kv_heads = kv_heads,
            .key_count = keys,
            .k_key_stride = kv_heads * head_dim,
            .k_head_stride = head_dim,
            .v_key_stride = kv_heads * value_dim,
            .v_head_stride = value_dim,
            .scale = scale,
            .mask = mask,
            .soft_cap = soft_cap,
            .log_sum_exp = lse.data()};
  }

  /// By a kernel, the one that the library chooses unless told otherwise.
  AttentionProblem& run() { return run(kernels::attention); }
  template <class Kernel>
  AttentionProblem& run(const Kernel& kernel) {
    kernel(args());
    return *this;
  }
  AttentionProblem& run_reference() { return run(kernels::reference::attention); }
};

/// Numbers that end at a page that may not be read, stored as T.
template <class T>
struct Stored {
  explicit Stored(const std::vector<float>& from) : bytes(from.size() * sizeof(T)) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      T stored;
      if constexpr (std::is_same_v<T, f16>) stored = to_f16(from[i]);
      if constexpr (std::is_same_v<T, bf16>) stored = to_bf16(from[i]);
      if constexpr (std::is_same_v<T, float>) stored = from[i];
      std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
    }
  }
  const T* data() const { return reinterpret_cast<const T*>(bytes.data()); }
  GuardedBytes bytes;
};

/// What a number is when it is stored as T.
template <class T>
float rounded(float x) {
  if constexpr (std::is_same_v<T, f16>) return to_float(to_f16(x));
  if constexpr (std::is_same_v<T, bf16>) return to_float(to_bf16(x));
  return x;
}

}  // namespace imbrex::tests
