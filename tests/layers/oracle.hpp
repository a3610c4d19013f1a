// A decoder block as its formulas read: plain loops in double over rows and columns, with none of
// the library's kernels. It shares with the layers only their numbers.
#pragma once

#include <cmath>
#include <vector>

#include "imbrex/layers.hpp"

namespace imbrex::tests::oracle {

/// Rows and columns.
struct Table {
  index_t rows, cols;
  std::vector<double> of;

  Table(index_t r, index_t c) : rows(r), cols(c), of(static_cast<std::size_t>(r * c)) {}
  template <TensorLike X>
  explicit Table(const X& x) : Table(x.count() / x.size(X::rank - 1), x.size(X::rank - 1)) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = static_cast<double>(x.data()[i]);
  }

  double& operator()(index_t i, index_t j) { return of[static_cast<std::size_t>(i * cols + j)]; }
  double operator()(index_t i, index_t j) const {
    return of[static_cast<std::size_t>(i * cols + j)];
  }
  std::vector<float> floats() const {
    std::vector<float> result;
    for (const double v : of) result.push_back(static_cast<float>(v));
    return result;
  }
};

template <class L>
Table linear(const L& layer, const Table& x) {
  const float* w = reinterpret_cast<const float*>(layer.weight().data());
  Table y(x.rows, layer.weight().rows());
  for (index_t t = 0; t < y.rows; ++t) {
    for (index_t o = 0; o < y.cols; ++o) {
      if (layer.bias() != nullptr) y(t, o) = static_cast<double>(layer.bias()[o]);
      for (index_t i = 0; i < x.cols; ++i) {
        y(t, o) += x(t, i) * static_cast<double>(w[o * x.cols + i]);
      }
    }
  }
  return y;
}

/// RMSNorm of each run of as many columns as the weight has.
template <class A>
Table normed(const RMSNorm<A>& norm, Table x) {
  const index_t n = norm.weight().count();
  for (index_t t = 0; t < x.rows; ++t) {
    for (index_t first = 0; first < x.cols; first += n) {
      double squares = 0;
      for (index_t j = 0; j < n; ++j) squares += x(t, first + j) * x(t, first + j);
      const double root =
          std::sqrt(squares / static_cast<double>(n) + static_cast<double>(norm.options().eps));
      for (index_t j = 0; j < n; ++j) {
        x(t, first + j) *= static_cast<double>(norm.weight().data()[j]) / root;
      }
    }
  }
  return x;
}

template <class A>
Table normed(const LayerNorm<A>& norm, Table x) {
  const double n = static_cast<double>(x.cols);
  for (index_t t = 0; t < x.rows; ++t) {
    double mean = 0, variance = 0;
    for (index_t j = 0; j < x.cols; ++j) mean += x(t, j) / n;
    for (index_t j = 0; j < x.cols; ++j) variance += (x(t, j) - mean) * (x(t, j) - mean) / n;
    for (index_t j = 0; j < x.cols; ++j) {
      x(t, j) = (x(t, j) - mean) / std::sqrt(variance + static_cast<double>(norm.eps())) *
                    static_cast<double>(norm.weight().data()[j]) +
                static_cast<double>(norm.bias().data()[j]);
    }
  }
  return x;
}

template <class Norm>
Table normed(const std::optional<Norm>& norm, const Table& x) {
  return norm ? normed(*norm, x) : x;
}

/// Row t of every head turned by position t.
template <class D>
Table turned(const std::optional<Rope<D>>& rope, index_t width, Table x) {
  if (!rope) return x;
  const index_t pairs = rope->rotary_dims() / 2;
  const bool half = rope->pairs() == RopePairs::half;
  for (index_t t = 0; t < x.rows; ++t) {
    for (index_t first = 0; first < x.cols; first += width) {
      for (index_t i = 0; i < pairs; ++i) {
        double& a = x(t, first + (half ? i : 2 * i));
        double& b = x(t, first + (half ? i + pairs : 2 * i + 1));
        const double angle = static_cast<double>(t) *
                             static_cast<double>(rope->frequencies()[static_cast<std::size_t>(i)]);
        const double turned_a = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = turned_a;
      }
    }
  }
  return x;
}

/// Whether query i of a whole sequence sees key j.
inline bool visible(const Mask& mask, index_t i, index_t j) {
  if (mask.kind() == Mask::Kind::none) return true;
  return j <= i && (mask.kind() != Mask::Kind::window || j > i - mask.size());
}

enum class Order { norm_then_rope, rope_then_norm };

/// Attention over one whole sequence.
template <class A>
Table attention(const A& layer, const Table& x, Order order = Order::norm_then_rope) {
  const index_t heads = layer.q.weight().sizes()[0], width = layer.q.weight().sizes()[1];
  const index_t kv_heads = layer.k.weight().sizes()[0];
  const auto prepared = [&](const Table& raw, const auto& per_head, const auto& full) {
    const auto norm = [&](const Table& t) { return normed(full, normed(per_head, t)); };
    return order == Order::norm_then_rope ? turned(layer.rope, width, norm(raw))
                                          : norm(turned(layer.rope, width, raw));
  };
  const Table q = prepared(linear(layer.q, x), layer.q_norm, layer.q_norm_full);
  const Table k = prepared(linear(layer.k, x), layer.k_norm, layer.k_norm_full);
  const Table v = linear(layer.v, x);
  const double scale = layer.scale != 0 ? static_cast<double>(layer.scale)
                                        : 1 / std::sqrt(static_cast<double>(width));
  const double cap = static_cast<double>(layer.soft_cap);
  Table attended(x.rows, heads * width);
  for (index_t i = 0; i < x.rows; ++i) {
    for (index_t h = 0; h < heads; ++h) {
      const index_t q_first = h * width, k_first = h / (heads / kv_heads) * width;
      std::vector<double> weights(static_cast<std::size_t>(x.rows));
      double total = 0;
      for (index_t j = 0; j < x.rows; ++j) {
        if (!visible(layer.mask, i, j)) continue;
        double score = 0;
        for (index_t e = 0; e < width; ++e) score += q(i, q_first + e) * k(j, k_first + e);
        score *= scale;
        if (cap != 0) score = cap * std::tanh(score / cap);
        total += weights[static_cast<std::size_t>(j)] = std::exp(score);
      }
      for (index_t j = 0; j < x.rows; ++j) {
        for (index_t e = 0; e < width; ++e) {
          attended(i, q_first + e) +=
              weights[static_cast<std::size_t>(j)] / total * v(j, k_first + e);
        }
      }
    }
  }
  return linear(layer.out, attended);
}

inline double activated(Activation f, double x) {
  if (f == Activation::relu) return x > 0 ? x : 0;
  if (f == Activation::silu) return x / (1 + std::exp(-x));
  return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
}

template <class M, class F>
Table feed_forward(const SwiGLU<M, F>& layer, const Table& x) {
  Table gate = linear(layer.gate, x);
  const Table up = linear(layer.up, x);
  for (std::size_t i = 0; i < gate.of.size(); ++i) {
    gate.of[i] = activated(layer.activation, gate.of[i]) * up.of[i];
  }
  return linear(layer.down, gate);
}

template <class M, class F>
Table feed_forward(const FFN<M, F>& layer, const Table& x) {
  Table up = linear(layer.up, x);
  for (double& v : up.of) v = activated(layer.activation, v);
  return linear(layer.down, up);
}

template <class B>
Table block(const B& layer, Table x) {
  const Table a = normed(layer.attention_post_norm,
                         attention(layer.attention, normed(layer.attention_norm, x)));
  for (std::size_t i = 0; i < x.of.size(); ++i) x.of[i] += a.of[i];
  const Table f = normed(layer.ffn_post_norm, feed_forward(layer.ffn, normed(layer.ffn_norm, x)));
  for (std::size_t i = 0; i < x.of.size(); ++i) x.of[i] += f.of[i];
  return x;
}

}  // namespace imbrex::tests::oracle
