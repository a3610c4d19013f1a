// Attention as its definition reads, a whole row of scores at a time, in double; also in constant
// expressions.
#pragma once

#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/reference/math.hpp"

namespace imbrex::kernels::reference::inline IMBREX_ABI {

/// s_j = scale q . key_j, then cap tanh(s_j / cap) if soft_cap is not 0.
constexpr double score(const AttentionArgs& a, index_t query, index_t head, index_t key) {
  const float* q = a.q.at(query, head);
  const index_t kv_head = head / (a.q.heads / a.kv_heads);
  const StoredFloats k = a.keys.from(key * a.k_key_stride + kv_head * a.k_head_stride);
  double sum = 0;
  for (index_t e = 0; e < a.q.head_dim; ++e) {
    sum += static_cast<double>(q[e]) * static_cast<double>(k[e]);
  }
  sum *= static_cast<double>(a.scale);
  const double cap = static_cast<double>(a.soft_cap);
  return cap == 0 ? sum : cap * tanh(sum / cap);
}

/// Turns the scores of the visible keys into weights, and returns log sum e^s. A sum of 0 (no key,
/// or scores of -inf alone) gives zeros and -inf.
constexpr double weights_of(double* scores, KeyRange visible) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double largest = -infinity, total = 0;
  for (index_t j = visible.first; j < visible.last; ++j) {
    if (!(scores[j] <= largest)) largest = scores[j];
  }
  for (index_t j = visible.first; j < visible.last; ++j) {
    scores[j] = scores[j] == -infinity ? 0.0 : exp(scores[j] - largest);
    total += scores[j];
  }
  if (total == 0) return -infinity;
  for (index_t j = visible.first; j < visible.last; ++j) scores[j] /= total;
  return largest + log(total);
}

/// out = softmax(scores) values over the keys each query sees; sizes and layout as in
/// AttentionArgs.
constexpr void attention(const AttentionArgs& a) {
  double* scores = new double[static_cast<std::size_t>(a.key_count)];
  for (index_t i = 0; i < a.q.rows; ++i) {
    const KeyRange visible = a.mask.visible(i, a.q.rows, a.key_count);
    for (index_t h = 0; h < a.q.heads; ++h) {
      for (index_t j = visible.first; j < visible.last; ++j) scores[j] = score(a, i, h, j);
      const double lse = weights_of(scores, visible);
      if (a.log_sum_exp != nullptr) a.log_sum_exp[i * a.q.heads + h] = static_cast<float>(lse);
      const StoredFloats v = a.values.from(h / (a.q.heads / a.kv_heads) * a.v_head_stride);
      for (index_t e = 0; e < a.out.head_dim; ++e) {
        double sum = 0;
        for (index_t j = visible.first; j < visible.last; ++j) {
          sum += scores[j] * static_cast<double>(v[j * a.v_key_stride + e]);
        }
        a.out.at(i, h)[e] = static_cast<float>(sum);
      }
    }
  }
  delete[] scores;
}

}  // namespace imbrex::kernels::reference::inline IMBREX_ABI
