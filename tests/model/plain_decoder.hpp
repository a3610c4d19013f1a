// A decoder in double precision and in the plainest form, the oracle of the decoder's tests: whole
// sequences, no cache, loops over single numbers. Written from the equations of the papers
// (RMSNorm, arXiv 1910.07467; RoPE, 2104.09864; SwiGLU, 2002.05202; GQA, 2305.13245), and itself
// checked against the goldens of another implementation.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "imbrex/kernels/quant/decode.hpp"
#include "imbrex/layers/rope_frequencies.hpp"
#include "imbrex/model/config.hpp"
#include "imbrex/model/decoder_weights.hpp"

namespace imbrex::tests {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

class PlainDecoder {
 public:
  /// What becomes of a layer's keys (turned by position) and values before attention reads them.
  using Store = std::function<void(index_t layer, Rows& keys, Rows& values)>;

  PlainDecoder(const Config& config, const DecoderWeights& weights, Store store = {})
      : c_(config), w_(weights), store_(std::move(store)) {}

  /// Logits after each of the tokens.
  Rows operator()(const std::vector<token_t>& tokens) const {
    const std::vector<float> table = numbers(w_.embedding);
    Rows x;
    for (const token_t token : tokens) {
      Row row;
      for (index_t i = 0; i < c_.dims.model; ++i) {
        row.push_back(c_.embedding_scale * double{table[at(token * c_.dims.model + i)]});
      }
      x.push_back(row);
    }
    for (index_t layer = 0; layer < c_.dims.layers; ++layer) block(x, layer);
    const auto& head = c_.tie_embeddings ? w_.embedding : w_.head;
    Rows logits = linear(norm(x, w_.norm), head, {});
    for (Row& row : logits) {
      for (double& y : row) y = capped(y, c_.logit_softcap);
    }
    return logits;
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

  template <class W>
  static std::vector<float> numbers(const W& w) {
    std::vector<float> values(at(w.rows() * w.cols()));
    kernels::decode(w.dtype(), w.data(), w.rows() * w.cols(), values.data());
    return values;
  }

  static double capped(double x, double cap) { return cap == 0 ? x : cap * std::tanh(x / cap); }

  template <class W>
  static Rows linear(const Rows& x, const W& weight, const std::vector<float>& bias) {
    const std::vector<float> w = numbers(weight);
    Rows y;
    for (const Row& row : x) {
      Row out;
      for (index_t o = 0; o < weight.rows(); ++o) {
        double sum = bias.empty() ? 0 : double{bias[at(o)]};
        for (index_t k = 0; k < weight.cols(); ++k) {
          sum += row[at(k)] * double{w[at(o * weight.cols() + k)]};
        }
        out.push_back(sum);
      }
      y.push_back(out);
    }
    return y;
  }

  /// Norms runs of as many numbers as there are weights.
  Rows norm(Rows x, const std::vector<float>& weight) const {
    for (Row& row : x) {
      for (std::size_t first = 0; first < row.size(); first += weight.size()) {
        double squares = 0;
        for (std::size_t i = 0; i < weight.size(); ++i) squares += row[first + i] * row[first + i];
        const double root = std::sqrt(squares / static_cast<double>(weight.size()) + c_.norm_eps);
        for (std::size_t i = 0; i < weight.size(); ++i) {
          row[first + i] *= (c_.norm_weight_offset + double{weight[i]}) / root;
        }
      }
    }
    return x;
  }

  Rows maybe_norm(const Rows& x, const std::vector<float>& weight) const {
    return weight.empty() ? x : norm(x, weight);
  }

  static void add(Rows& x, const Rows& y) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
    }
  }

  void block(Rows& x, index_t layer) const {
    const BlockWeights& w = w_.blocks[at(layer)];
    add(x, maybe_norm(attention(maybe_norm(x, w.attention_norm), w, layer), w.attention_post_norm));
    const Rows h = maybe_norm(x, w.ffn_norm);
    Rows hidden = linear(h, w.gate, w.gate_bias);
    const Rows up = linear(h, w.up, w.up_bias);
    for (std::size_t t = 0; t < hidden.size(); ++t) {
      for (std::size_t i = 0; i < hidden[t].size(); ++i) {
        hidden[t][i] *= up[t][i] / (1 + std::exp(-hidden[t][i]));
      }
    }
    add(x, maybe_norm(linear(hidden, w.down, w.down_bias), w.ffn_post_norm));
  }

  Rows attention(const Rows& x, const BlockWeights& w, index_t layer) const {
    const index_t heads = c_.dims.heads, group = heads / c_.dims.kv_heads, d = c_.dims.head_dim;
    Rows q = maybe_norm(linear(x, w.q, w.q_bias), w.q_norm);
    Rows k = maybe_norm(linear(x, w.k, w.k_bias), w.k_norm);
    Rows v = linear(x, w.v, w.v_bias);
    if (rotates(c_, layer)) {
      turn(q);
      turn(k);
    }
    if (store_) store_(layer, k, v);
    const double scale =
        c_.attention_scale != 0 ? c_.attention_scale : 1 / std::sqrt(static_cast<double>(d));
    const index_t window = imbrex::window(c_, layer);
    Rows y(x.size(), Row(at(heads * d)));
    for (index_t t = 0; t < static_cast<index_t>(x.size()); ++t) {
      const index_t first = window == 0 ? 0 : greater(0, t - window + 1);
      for (index_t h = 0; h < heads; ++h) {
        const index_t kv = h / group * d;
        Row weights;
        double sum = 0;
        for (index_t j = first; j <= t; ++j) {
          double score = 0;
          for (index_t i = 0; i < d; ++i) score += q[at(t)][at(h * d + i)] * k[at(j)][at(kv + i)];
          weights.push_back(std::exp(capped(score * scale, c_.attention_softcap)));
          sum += weights.back();
        }
        for (index_t j = first; j <= t; ++j) {
          for (index_t i = 0; i < d; ++i) {
            y[at(t)][at(h * d + i)] += weights[at(j - first)] / sum * v[at(j)][at(kv + i)];
          }
        }
      }
    }
    return linear(y, w.out, w.out_bias);
  }

  /// No scaling of frequencies but the linear one and factors stored with the weights.
  void turn(Rows& x) const {
    const index_t d = c_.dims.head_dim, n = rotary_dims(c_);
    const bool half = c_.rope.pairs == RopePairs::half;
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (index_t head = 0; head < static_cast<index_t>(x[t].size()); head += d) {
        for (index_t i = 0; i < n / 2; ++i) {
          double angle =
              static_cast<double>(t) * std::pow(c_.rope.theta, -2.0 * double(i) / double(n));
          if (c_.rope.scaling.kind == RopeScalingKind::linear) angle /= c_.rope.scaling.factor;
          if (!w_.rope_factors.empty()) angle /= double{w_.rope_factors[at(i)]};
          double& a = x[t][at(head + (half ? i : 2 * i))];
          double& b = x[t][at(head + (half ? i + n / 2 : 2 * i + 1))];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = a * std::sin(angle) + b * std::cos(angle);
          a = turned;
        }
      }
    }
  }

  const Config& c_;
  const DecoderWeights& w_;
  Store store_;
};

}  // namespace imbrex::tests
