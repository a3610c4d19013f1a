// From weights to the layers of a decoder: every size is checked here, once.
#pragma once

#include "imbrex/layers/block.hpp"
#include "imbrex/layers/rope_frequencies.hpp"
#include "imbrex/model/config_check.hpp"
#include "imbrex/model/decoder_weights.hpp"

namespace imbrex::decoder_parts::inline IMBREX_ABI {

/// The configuration, if a Decoder with these `dims` can compute it. Throws ConfigError,
/// ShapeError.
inline const Config& checked(const Config& config, const Dims& dims) {
  check(config);
  if (const DimsField* field = first_mismatch(dims, config.dims)) {
    const index_t sizes[] = {dims.*field->size}, has[] = {config.dims.*field->size};
    fail<ShapeError>("Decoder: the configuration must have the decoder's static sizes",
                     {"decoder", &field->name, sizes, 1}, {"config", &field->name, has, 1});
  }
  if (config.norm != NormKind::rms_norm) {
    raise(ConfigError("norm", "layer_norm", "rms_norm: Decoder is made of RMSNorm"));
  }
  if (config.feed_forward != FeedForwardKind::gated) {
    raise(ConfigError("feed_forward", "plain", "gated: Decoder is made of gated layers"));
  }
  if (config.positions == Positions::learned) {
    raise(ConfigError("positions", "learned", "rope or none: Decoder has no table of positions"));
  }
  return config;
}

/// Makes the layers of a Decoder out of weights: those that `config` says, of the sizes that it
/// says. One that is missing or has other sizes is a ShapeError, one that the configuration does
/// not have a ConfigError: it would be left out of the computation, or change it.
class Builder {
  using M = Model<>;
  using V = Vocab<>;
  using H = Heads<>;
  using K = KvHeads<>;
  using D = HeadDim<>;
  using F = Hidden<>;

 public:
  Builder(const Config& config, const DecoderWeights& weights)
      : config_(config), weights_(weights) {
    const index_t given = static_cast<index_t>(weights.blocks.size());
    if (given != config.dims.layers) {
      const char* name = "blocks";
      fail<ShapeError>("Decoder: there must be weights for each block",
                       {"config", &name, &config.dims.layers, 1}, {"weights", &name, &given, 1});
    }
    check_rope_factors();
  }

  Weight<Axes<V>, Axes<M>> embedding() const {
    return checked_weight(weights_.embedding, v(), m(), "token_embd");
  }

  /// The head; the embedding where the two are tied.
  Weight<Axes<V>, Axes<M>> head() const {
    const bool tied = config_.tie_embeddings;
    if (tied && weights_.head) {
      raise(ConfigError("output", to_string(weights_.head.ref("")), "none: embeddings are tied"));
    }
    return checked_weight(tied ? weights_.embedding : weights_.head, v(), m(),
                          tied ? "token_embd" : "output");
  }

  RMSNorm<M> norm() const { return *norm_of<M>(weights_.norm, m(), "output_norm", true); }

  Block<M, H, K, D, F> block(index_t i) const {
    const BlockWeights& w = weights_.blocks[static_cast<std::size_t>(i)];
    const std::string path = "blk." + std::to_string(i) + ".";
    const bool pre = config_.norm_placement != NormPlacement::post;
    const bool post = config_.norm_placement != NormPlacement::pre;
    Block<M, H, K, D, F> block;
    block.attention_norm = norm_of<M>(w.attention_norm, m(), path + "attn_norm", pre);
    block.attention_post_norm =
        norm_of<M>(w.attention_post_norm, m(), path + "post_attention_norm", post);
    block.attention = attention(w, i, path);
    block.ffn_norm = norm_of<M>(w.ffn_norm, m(), path + "ffn_norm", pre);
    block.ffn_post_norm = norm_of<M>(w.ffn_post_norm, m(), path + "post_ffw_norm", post);
    const bool bias = config_.ffn_bias;
    block.ffn.gate = linear<M, F>(w.gate, w.gate_bias, f(), m(), path + "ffn_gate", bias);
    block.ffn.up = linear<M, F>(w.up, w.up_bias, f(), m(), path + "ffn_up", bias);
    block.ffn.down = linear<F, M>(w.down, w.down_bias, m(), f(), path + "ffn_down", bias);
    block.ffn.activation = config_.activation;
    return block;
  }

 private:
  Attention<M, H, K, D> attention(const BlockWeights& w, index_t layer,
                                  const std::string& path) const {
    Attention<M, H, K, D> a;
    const bool bias = config_.qkv_bias;
    a.q = linear<M, Axes<H, D>>(w.q, w.q_bias, hd(), m(), path + "attn_q", bias);
    a.k = linear<M, Axes<K, D>>(w.k, w.k_bias, kd(), m(), path + "attn_k", bias);
    a.v = linear<M, Axes<K, D>>(w.v, w.v_bias, kd(), m(), path + "attn_v", bias);
    a.out = linear<Axes<H, D>, M>(w.out, w.out_bias, m(), hd(), path + "attn_output",
                                  config_.output_bias);
    const bool per_head = config_.qk_norm == QkNorm::per_head;
    const bool full = config_.qk_norm == QkNorm::full;
    if (!full) {
      a.q_norm = norm_of<D>(w.q_norm, d(), path + "attn_q_norm", per_head);
      a.k_norm = norm_of<D>(w.k_norm, d(), path + "attn_k_norm", per_head);
    } else {
      a.q_norm_full = norm_of<Axes<H, D>>(w.q_norm, hd(), path + "attn_q_norm", true);
      a.k_norm_full = norm_of<Axes<K, D>>(w.k_norm, kd(), path + "attn_k_norm", true);
    }
    if (rotates(config_, layer)) a.rope.emplace(rope());
    const index_t keys = window(config_, layer);
    a.mask = keys > 0 ? Mask::window(keys) : Mask::causal();
    a.scale = static_cast<float>(config_.attention_scale);
    a.soft_cap = static_cast<float>(config_.attention_softcap);
    return a;
  }

  Rope<D> rope() const {
    std::vector<float> frequencies =
        rope_frequencies(config_.rope.theta, rotary_dims(config_), config_.rope.scaling);
    const std::vector<float>& factors = weights_.rope_factors;
    for (std::size_t i = 0; i < factors.size(); ++i) frequencies[i] /= factors[i];
    return Rope<D>(std::move(frequencies), config_.rope.pairs,
                   rope_magnitude(config_.rope.scaling));
  }

  void check_rope_factors() const {
    const index_t factors = static_cast<index_t>(weights_.rope_factors.size());
    if (!config_.rope.stored_factors) {
      refuse_unexpected(weights_.rope_factors, "rope_freqs");
      return;
    }
    if (const index_t frequencies = rotary_dims(config_) / 2; factors != frequencies) {
      const index_t sizes[] = {frequencies, factors};
      const char* names[] = {"frequencies", "factors"};
      fail<ShapeError>("rope_freqs: one factor for each frequency", {"", names, sizes, 2});
    }
  }

  static void refuse_unexpected(const std::vector<float>& values, const std::string& path) {
    if (values.empty()) return;
    raise(ConfigError(path, std::to_string(values.size()) + " numbers",
                      "none: the configuration has no such part"));
  }

  /// The weight, if it has the sizes of the configuration. Throws ShapeError where it is missing or
  /// has others.
  template <AxisType... Os, AxisType... Is>
  static const Weight<Axes<Os...>, Axes<Is...>>& checked_weight(
      const Weight<Axes<Os...>, Axes<Is...>>& w, const Shape<Os...>& out, const Shape<Is...>& in,
      const std::string& path) {
    index_t sizes[sizeof...(Os) + sizeof...(Is)] = {};
    out.copy_sizes(sizes);
    in.copy_sizes(sizes + sizeof...(Os));
    const char* names[] = {Os::name..., Is::name...};
    const ShapeRef expected{"expected", names, sizes, sizeof...(Os) + sizeof...(Is)};
    bool same = static_cast<bool>(w);
    for (index_t i = 0; i < expected.rank; ++i) same = same && w.sizes()[i] == sizes[i];
    if (!same) {
      fail_layer(path, w ? "the weight has other sizes" : "there is no such weight", expected,
                 w.ref("got"));
    }
    return w;
  }

  template <class In, class Out, class W, class OutShape, class InShape>
  static Linear<In, Out> linear(const W& weight, const std::vector<float>& bias,
                                const OutShape& out, const InShape& in, const std::string& path,
                                bool has_bias) {
    const auto& w = checked_weight(weight, out, in, path);
    if (!has_bias) {
      refuse_unexpected(bias, path + ".bias");
      return Linear<In, Out>(w, path);
    }
    return Linear<In, Out>(w, vector_of(bias, out, path + ".bias"), path);
  }

  template <class A, class S>
  std::optional<RMSNorm<A>> norm_of(const std::vector<float>& weight, const S& shape,
                                    const std::string& path, bool wanted) const {
    if (!wanted) {
      refuse_unexpected(weight, path);
      return std::nullopt;
    }
    const NormOptions options{static_cast<float>(config_.norm_eps),
                              static_cast<float>(config_.norm_weight_offset)};
    return RMSNorm<A>(vector_of(weight, shape, path), options, path);
  }

  template <AxisType... As>
  static Tensor<float, As...> vector_of(const std::vector<float>& values, const Shape<As...>& shape,
                                        const std::string& path) {
    if (static_cast<index_t>(values.size()) != shape.count()) {
      raise(ShapeError(path + ": expected " + std::to_string(shape.count()) + " numbers, got " +
                       std::to_string(values.size())));
    }
    Tensor<float, As...> tensor(shape);
    for (std::size_t i = 0; i < values.size(); ++i) tensor.data()[i] = values[i];
    return tensor;
  }

  // The shapes of the model, with the sizes of the configuration.
  Shape<M> m() const { return Shape<M>(M(config_.dims.model)); }
  Shape<V> v() const { return Shape<V>(V(config_.dims.vocab)); }
  Shape<F> f() const { return Shape<F>(F(config_.dims.hidden)); }
  Shape<D> d() const { return Shape<D>(D(config_.dims.head_dim)); }
  Shape<H, D> hd() const { return Shape<H, D>(H(config_.dims.heads), D(config_.dims.head_dim)); }
  Shape<K, D> kd() const { return Shape<K, D>(K(config_.dims.kv_heads), D(config_.dims.head_dim)); }

  const Config& config_;
  const DecoderWeights& weights_;
};

}  // namespace imbrex::decoder_parts::inline IMBREX_ABI
