// Weights of a decoder that cost next to nothing: to look at shapes and sizes, not at values.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "imbrex/model/config.hpp"
#include "imbrex/model/decoder_weights.hpp"
#include "imbrex/tensor/buffer.hpp"

namespace examples {

/// All matrices of a configuration, each of its own shape, all of them views of one block of zeros
/// that is as large as the largest; vectors are ones. A decoder of any size fits, and its passes
/// are real ones.
class ZeroWeights {
 public:
  ZeroWeights(const imbrex::Config& config, imbrex::Dtype dtype) : config_(config), dtype_(dtype) {
    const imbrex::Dims& d = config.dims;
    const imbrex::index_t by_model = (std::max)({d.vocab, d.hidden, d.heads * d.head_dim});
    const imbrex::index_t by_hidden = imbrex::row_bytes(dtype, d.hidden) * d.model;
    const imbrex::index_t by_heads = imbrex::row_bytes(dtype, d.heads * d.head_dim) * d.model;
    imbrex::Buffer<std::byte> zeros(
        (std::max)({imbrex::row_bytes(dtype, d.model) * by_model, by_hidden, by_heads}));
    bytes_ = zeros.size();
    data_ = zeros.data();
    owner_ = imbrex::Owner::of(std::move(zeros));
  }

  /// Bytes of the block.
  imbrex::index_t bytes() const { return bytes_; }

  imbrex::DecoderWeights make() const {
    using namespace imbrex;
    const Dims& d = config_.dims;
    const Shape<Vocab<>> v{Vocab<>(d.vocab)};
    const Shape<Model<>> m{Model<>(d.model)};
    DecoderWeights w;
    w.embedding = matrix<Axes<Vocab<>>, Axes<Model<>>>(v, m);
    if (!config_.tie_embeddings) w.head = w.embedding;
    w.norm = ones(d.model, true);
    w.rope_factors = ones(rotary_dims(config_) / 2, config_.rope.stored_factors);
    w.blocks.assign(static_cast<std::size_t>(d.layers), block());
    return w;
  }

 private:
  imbrex::BlockWeights block() const {
    using namespace imbrex;
    const Dims& d = config_.dims;
    const Shape<Model<>> m{Model<>(d.model)};
    const Shape<Heads<>, HeadDim<>> q{Heads<>(d.heads), HeadDim<>(d.head_dim)};
    const Shape<KvHeads<>, HeadDim<>> kv{KvHeads<>(d.kv_heads), HeadDim<>(d.head_dim)};
    const Shape<Hidden<>> f{Hidden<>(d.hidden)};
    BlockWeights w;
    w.q = matrix<Axes<Heads<>, HeadDim<>>, Axes<Model<>>>(q, m);
    w.k = w.v = matrix<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>>(kv, m);
    w.out = matrix<Axes<Model<>>, Axes<Heads<>, HeadDim<>>>(m, q);
    w.gate = w.up = matrix<Axes<Hidden<>>, Axes<Model<>>>(f, m);
    w.down = matrix<Axes<Model<>>, Axes<Hidden<>>>(m, f);
    add_vectors(w, q.count(), kv.count());
    return w;
  }

  void add_vectors(imbrex::BlockWeights& w, imbrex::index_t q, imbrex::index_t kv) const {
    using namespace imbrex;
    const Dims& d = config_.dims;
    const bool full = config_.qk_norm == QkNorm::full, some = config_.qk_norm != QkNorm::none;
    const bool pre = config_.norm_placement != NormPlacement::post;
    const bool post = config_.norm_placement != NormPlacement::pre;
    w.attention_norm = w.ffn_norm = ones(d.model, pre);
    w.attention_post_norm = w.ffn_post_norm = ones(d.model, post);
    w.q_norm = ones(full ? q : d.head_dim, some);
    w.k_norm = ones(full ? kv : d.head_dim, some);
    w.q_bias = ones(q, config_.qkv_bias);
    w.k_bias = w.v_bias = ones(kv, config_.qkv_bias);
    w.out_bias = ones(d.model, config_.output_bias);
    w.gate_bias = w.up_bias = ones(d.hidden, config_.ffn_bias);
    w.down_bias = ones(d.model, config_.ffn_bias);
  }

  static std::vector<float> ones(imbrex::index_t n, bool wanted) {
    return std::vector<float>(wanted ? static_cast<std::size_t>(n) : 0, 1.0f);
  }

  template <class Out, class In>
  imbrex::Weight<Out, In> matrix(const imbrex::shape_of<Out>& out,
                                 const imbrex::shape_of<In>& in) const {
    const imbrex::index_t bytes = imbrex::row_bytes(dtype_, in.count()) * out.count();
    return {out, in, dtype_, data_, bytes, owner_};
  }

  imbrex::Config config_;
  imbrex::Dtype dtype_;
  imbrex::index_t bytes_ = 0;
  const std::byte* data_ = nullptr;
  imbrex::Owner owner_;
};

}  // namespace examples
