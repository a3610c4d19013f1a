// Layers with other sizes of the same axes: from dynamic to static, checked, and back.
#pragma once

#include "imbrex/layers/block.hpp"
#include "imbrex/layers/embedding.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace retype_detail {

template <class To>
struct Retype;

/// The optional layer as an optional To.
template <class To, class From>
std::optional<To> maybe(const std::optional<From>& from) {
  return from ? std::optional<To>(To(*from)) : std::nullopt;
}

template <class V, class M>
struct Retype<Embedding<V, M>> {
  template <class From>
  static Embedding<V, M> of(const From& from) {
    return Embedding<V, M>(typename Embedding<V, M>::weight_type(from.table()), from.path());
  }
};

template <class M, class F>
struct Retype<SwiGLU<M, F>> {
  template <class From>
  static SwiGLU<M, F> of(const From& from) {
    SwiGLU<M, F> to;
    to.gate = Linear<M, F>(from.gate);
    to.up = Linear<M, F>(from.up);
    to.down = Linear<F, M>(from.down);
    to.activation = from.activation;
    return to;
  }
};

template <class M, class H, class K, class D>
struct Retype<Attention<M, H, K, D>> {
  template <class From>
  static Attention<M, H, K, D> of(const From& from) {
    Attention<M, H, K, D> to;
    to.q = Linear<M, Axes<H, D>>(from.q);
    to.k = Linear<M, Axes<K, D>>(from.k);
    to.v = Linear<M, Axes<K, D>>(from.v);
    to.out = Linear<Axes<H, D>, M>(from.out);
    to.q_norm = maybe<RMSNorm<D>>(from.q_norm);
    to.k_norm = maybe<RMSNorm<D>>(from.k_norm);
    to.q_norm_full = maybe<RMSNorm<Axes<H, D>>>(from.q_norm_full);
    to.k_norm_full = maybe<RMSNorm<Axes<K, D>>>(from.k_norm_full);
    if (from.rope) {
      to.rope.emplace(from.rope->frequencies(), from.rope->pairs(), from.rope->magnitude());
    }
    to.mask = from.mask;
    to.scale = from.scale;
    to.soft_cap = from.soft_cap;
    return to;
  }
};

template <class M, class H, class K, class D, class F>
struct Retype<Block<M, H, K, D, F>> {
  template <class From>
  static Block<M, H, K, D, F> of(const From& from) {
    Block<M, H, K, D, F> to;
    to.attention_norm = maybe<RMSNorm<M>>(from.attention_norm);
    to.attention_post_norm = maybe<RMSNorm<M>>(from.attention_post_norm);
    to.attention = Retype<Attention<M, H, K, D>>::of(from.attention);
    to.ffn_norm = maybe<RMSNorm<M>>(from.ffn_norm);
    to.ffn_post_norm = maybe<RMSNorm<M>>(from.ffn_post_norm);
    to.ffn = Retype<SwiGLU<M, F>>::of(from.ffn);
    return to;
  }
};

}  // namespace retype_detail

/// The layer `from` as a `To`, which differs in the sizes of its axes alone; shares its weights.
/// Throws ShapeError where a size known to both differs.
template <class To, class From>
To retype(const From& from) {
  return retype_detail::Retype<To>::of(from);
}

}  // namespace imbrex::inline IMBREX_ABI
