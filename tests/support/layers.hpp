// Layers and activations with random numbers, for tests.
#pragma once

#include <string>
#include <vector>

#include "imbrex/layers.hpp"
#include "tests/support/compare.hpp"

namespace imbrex::tests {

/// What the ShapeError (or another E) of `run` says; "nothing thrown" where there is none.
template <class E = ShapeError, class Run>
std::string error_of(const Run& run) {
  try {
    run();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing thrown";
}

/// The elements of a tensor or view, in row-major order.
template <class T>
void append_elements(const T* data, const index_t* sizes, const index_t* strides, index_t rank,
                     std::vector<float>& to) {
  if (rank == 0) return to.push_back(*data);
  for (index_t i = 0; i < sizes[0]; ++i) {
    append_elements(data + i * strides[0], sizes + 1, strides + 1, rank - 1, to);
  }
}
template <TensorLike X>
std::vector<float> elements(const X& x) {
  const auto v = x.view();
  index_t sizes[list_size<axes_of<X>> + 1] = {};
  v.shape().copy_sizes(sizes);
  std::vector<float> result;
  append_elements(v.data(), sizes, v.strides(), list_size<axes_of<X>>, result);
  return result;
}

/// Standard normal numbers.
template <AxisType... As>
Tensor<float, As...> normal(Random& random, As... axes_of_x) {
  Tensor<float, As...> x(axes_of_x...);
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = random.normal();
  return x;
}

/// A norm's weight, in [0.5, 1.5).
template <AxisType... As>
Tensor<float, As...> norm_weight(Random& random, As... axes_of_w) {
  Tensor<float, As...> w(axes_of_w...);
  for (index_t i = 0; i < w.count(); ++i) w.data()[i] = 0.5f + random.uniform();
  return w;
}

/// The layer, with a random bias.
template <class In, class Out>
Linear<In, Out> with_bias(const Linear<In, Out>& layer, Random& random) {
  tensor_of<float, list_of<Out>> bias(layer.weight().out());
  for (index_t i = 0; i < bias.count(); ++i) bias.data()[i] = random.normal();
  return Linear<In, Out>(layer.weight(), bias, layer.path());
}

template <class M, class H, class K, class D>
Attention<M, H, K, D> random_attention(M m, H h, K k, D d, Random& random, bool biased = false) {
  Attention<M, H, K, D> a;
  const Shape<M> model(m);
  const Shape<H, D> heads(h, d);
  const Shape<K, D> kv_heads(k, d);
  const auto maybe_biased = [&](const auto& layer) {
    return biased ? with_bias(layer, random) : layer;
  };
  a.q = maybe_biased(random_linear<M, Axes<H, D>>(heads, model, random, "blk.0.attn_q"));
  a.k = maybe_biased(random_linear<M, Axes<K, D>>(kv_heads, model, random, "blk.0.attn_k"));
  a.v = maybe_biased(random_linear<M, Axes<K, D>>(kv_heads, model, random, "blk.0.attn_v"));
  a.out = random_linear<Axes<H, D>, M>(model, heads, random, "blk.0.attn_output");
  a.rope.emplace(rope_frequencies(10000, d.size() / 2 * 2));
  return a;
}

template <class M, class F>
SwiGLU<M, F> random_swiglu(M m, F f, Random& random) {
  SwiGLU<M, F> ffn;
  ffn.gate = random_linear<M, F>(Shape<F>(f), Shape<M>(m), random, "blk.0.ffn_gate");
  ffn.up = random_linear<M, F>(Shape<F>(f), Shape<M>(m), random, "blk.0.ffn_up");
  ffn.down = random_linear<F, M>(Shape<M>(m), Shape<F>(f), random, "blk.0.ffn_down");
  return ffn;
}

template <class M, class H, class K, class D, class F>
Block<M, H, K, D, F> random_block(M m, H h, K k, D d, F f, Random& random) {
  Block<M, H, K, D, F> block;
  block.attention_norm.emplace(norm_weight(random, m));
  block.attention = random_attention(m, h, k, d, random);
  block.ffn_norm.emplace(norm_weight(random, m));
  block.ffn = random_swiglu(m, f, random);
  return block;
}

/// Keys and values of one sequence, and the segments into them.
struct Cache {
  Cache(index_t heads, index_t capacity, index_t width)
      : keys(KvHeads<>(heads), Keys<>(capacity), HeadDim<>(width)),
        values(KvHeads<>(heads), Keys<>(capacity), HeadDim<>(width)) {}

  /// Rows [first, first + rows) of a chunk, after `start` rows of before.
  Segment segment(index_t first, index_t rows, index_t start) {
    return {first, rows, start, slice<Keys>(keys, 0, start + rows),
            slice<Keys>(values, 0, start + rows)};
  }

  Tensor<float, KvHeads<>, Keys<>, HeadDim<>> keys, values;
};

}  // namespace imbrex::tests
