// The weights of attention, which the library never writes down (kernels/attention.hpp), from what
// an observer sees of a pass: softmax(q k^T scale) of the q and k that were observed.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/scale.hpp"
#include "imbrex/kernels/soft_cap.hpp"
#include "imbrex/kernels/softmax.hpp"
#include "imbrex/layers/attention.hpp"

namespace examples {

/// What a block's attention has shown of a pass over T tokens.
struct Observed {
  imbrex::index_t layer = 0, tokens = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::vector<float> q, k, v, attended;  ///< [T, heads or kv_heads, head_dim]

  /// Keeps a step, if it is one of these; the later of "q" and "q_turned".
  void take(const imbrex::Step& step) {
    const std::string name = step.name;
    layer = step.layer;
    if (name == "q" || name == "q_turned") {
      tokens = step.value.sizes[0];
      heads = step.value.sizes[1];
      head_dim = step.value.sizes[2];
      q = copied(step.value);
    }
    if (name == "k" || name == "k_turned") {
      kv_heads = step.value.sizes[1];
      k = copied(step.value);
    }
    if (name == "v") v = copied(step.value);
    if (name == "attended") attended = copied(step.value);
  }

 private:
  static std::vector<float> copied(const imbrex::ConstOperand& x) {
    const imbrex::RowsOperand rows(x, 2);
    const float* first = rows.rows().data;
    return {first, first + x.count(0, 3)};
  }
};

using AttentionLayer =
    imbrex::Attention<imbrex::Model<>, imbrex::Heads<>, imbrex::KvHeads<>, imbrex::HeadDim<>>;

/// "layer 3, head 2".
inline std::string name_of(const Observed& o, imbrex::index_t head) {
  return "layer " + std::to_string(o.layer) + ", head " + std::to_string(head);
}

/// Throws NumericError where a number that a head computes with is not finite.
inline void require_finite(const Observed& o, imbrex::index_t head) {
  const imbrex::index_t d = o.head_dim, kv_head = head / (o.heads / o.kv_heads);
  const auto require = [&](const char* name, const std::vector<float>& x, imbrex::index_t heads,
                           imbrex::index_t which) {
    for (imbrex::index_t i = 0; i < o.tokens; ++i) {
      const float* row = x.data() + (i * heads + which) * d;
      if (std::all_of(row, row + d, [](float number) { return std::isfinite(number); })) continue;
      imbrex::raise(imbrex::NumericError(name_of(o, head) + ": " + name + " of token " +
                                         std::to_string(i) + " is not finite"));
    }
  };
  require("q", o.q, o.heads, head);
  require("k", o.k, o.kv_heads, kv_head);
  require("v", o.v, o.kv_heads, kv_head);
}

/// The weights [T, T] of a head: softmax(q k^T scale), exactly 0 where the mask is.
/// Throws NumericError where its q, k or v is not finite.
inline void weights_of(const Observed& o, const AttentionLayer& layer, imbrex::index_t head,
                       std::vector<float>& weights) {
  require_finite(o, head);
  const imbrex::index_t t = o.tokens, d = o.head_dim, kv_head = head / (o.heads / o.kv_heads);
  const imbrex::kernels::Rows rows{weights.data(), t, t, t};
  const auto* keys = reinterpret_cast<const std::byte*>(o.k.data() + kv_head * d);
  imbrex::kernels::matmul(rows, {o.q.data() + head * d, t, d, o.heads * d},
                          {keys, imbrex::Dtype::f32, t, d, 4 * o.kv_heads * d});
  imbrex::kernels::scale(rows, rows, layer.score_scale());
  if (layer.soft_cap != 0) imbrex::kernels::soft_cap(rows, rows, layer.soft_cap);
  for (imbrex::index_t i = 0; i < t; ++i) {
    const imbrex::KeyRange seen = layer.mask.visible(i, t, t);
    const imbrex::kernels::Rows row{rows.row(i) + seen.first, 1, seen.last - seen.first, t};
    imbrex::kernels::softmax(row, row);
    std::fill(rows.row(i), rows.row(i) + seen.first, 0.0f);
    std::fill(rows.row(i) + seen.last, rows.row(i) + t, 0.0f);
  }
}

/// The length of the longest of a head's rows.
inline double longest(const std::vector<float>& x, imbrex::index_t head, imbrex::index_t heads,
                      imbrex::index_t d) {
  double most = 0;
  for (std::size_t at = static_cast<std::size_t>(head * d); at < x.size();
       at += static_cast<std::size_t>(heads * d)) {
    double sum = 0;
    for (std::size_t i = at; i < at + static_cast<std::size_t>(d); ++i) {
      sum += double{x[i]} * double{x[i]};
    }
    most = std::fmax(most, std::sqrt(sum));
  }
  return most;
}

/// How far weights times values is from what was attended, as a part of the longest value. Throws
/// NumericError where it is further than rounding allows: in two ways of computing a score, each is
/// off by up to (d/8 + 260) 2^-24 |q| |k| scale (matmul's bound), which changes weights by twice
/// that, and the sums over T keys add T 2^-24 each.
inline double deviation(const Observed& o, const AttentionLayer& layer, imbrex::index_t head,
                        const std::vector<float>& weights) {
  const imbrex::index_t t = o.tokens, d = o.head_dim, kv_head = head / (o.heads / o.kv_heads);
  const double v = longest(o.v, kv_head, o.kv_heads, d);
  const double scores = longest(o.q, head, o.heads, d) * longest(o.k, kv_head, o.kv_heads, d) *
                        static_cast<double>(layer.score_scale());
  const double terms = static_cast<double>(d) / 8 + 260;
  const double allowed = (4 * terms * scores + 2 * static_cast<double>(t) + 16) * 0x1p-24 * v;
  double worst = 0;
  for (imbrex::index_t i = 0; i < t; ++i) {
    for (imbrex::index_t e = 0; e < d; ++e) {
      double sum = 0;
      for (imbrex::index_t j = 0; j < t; ++j) {
        sum += double{weights[static_cast<std::size_t>(i * t + j)]} *
               double{o.v[static_cast<std::size_t>((j * o.kv_heads + kv_head) * d + e)]};
      }
      const auto at = static_cast<std::size_t>((i * o.heads + head) * d + e);
      const double difference = std::fabs(sum - double{o.attended[at]});
      if (!(difference <= allowed)) {  // so, and not with >: NaN is none of both
        imbrex::raise(imbrex::NumericError(
            name_of(o, head) + ": the weights do not give what the decoder attended: off by " +
            std::to_string(difference) + ", allowed " + std::to_string(allowed)));
      }
      worst = std::fmax(worst, difference);
    }
  }
  return v == 0 ? 0 : worst / v;
}

}  // namespace examples
