// The models that the decoder's tests run: the golden files of tests/golden/tiny, and random ones
// of any configuration.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "imbrex/checkpoint/load.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "tests/support/compare.hpp"

namespace imbrex::tests {

using Tokens = std::vector<token_t>;

inline std::string tiny_path(const std::string& name) { return IMBREX_GOLDEN_DIR "/tiny/" + name; }

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The sizes of the golden models, for decoders that know them at compile time.
inline constexpr Dims f32_dims{2, 320, 64, 4, 2, 16, 64};
inline constexpr Dims mixed_dims{2, 320, 64, 4, 2, 16, 96};
inline constexpr Dims kquant_dims{2, 320, 256, 4, 2, 64, 256};
inline constexpr Dims wide_dims{2, 320, 96, 4, 1, 32, 160};

/// What tests/golden/tiny/NAME.logits holds: tokens, and the logits after each of them.
struct TinyGolden {
  Tokens tokens;
  index_t vocab;
  std::vector<float> logits;
};

inline TinyGolden tiny_golden(const std::string& name) {
  const std::string bytes = read_bytes(tiny_path(name + ".logits"));
  REQUIRE(bytes.substr(0, 8) == "IMBXTINY");
  std::uint32_t head[3];  // version, time, vocab
  std::memcpy(head, bytes.data() + 8, sizeof head);
  REQUIRE(head[0] == 1);
  REQUIRE(bytes.size() == 20 + 4 * std::size_t{head[1]} * (std::size_t{head[2]} + 1));
  TinyGolden golden{Tokens(head[1]), head[2], std::vector<float>(std::size_t{head[1]} * head[2])};
  std::memcpy(golden.tokens.data(), bytes.data() + 20, 4 * std::size_t{head[1]});
  std::memcpy(golden.logits.data(), bytes.data() + 20 + 4 * std::size_t{head[1]},
              4 * golden.logits.size());
  return golden;
}

template <class V>
std::vector<float> numbers(const V& view) {
  REQUIRE(view.is_contiguous());
  return {view.data(), view.data() + view.count()};
}

/// How far the logits of two ways of computing the same pass may be apart, as |a - b| / |b| of a
/// row: each product of K terms and each sum along the way leaves a relative error of a few
/// roundings. With random signs K roundings of 2^-24 add up to sqrt(K) 2^-24; the errors of the 4
/// products one after the other in each layer (values or queries, output, gate or up, down), of its
/// attention (two products more), and of the head pass on through the residual stream and are added
/// up as if they all pointed the same way. Both ways may err, each by as much.
inline double logits_tolerance(const Dims& dims) {
  const index_t terms = greater(greater(dims.model, dims.hidden), dims.heads * dims.head_dim);
  return 2 * static_cast<double>(6 * dims.layers + 1) * std::sqrt(static_cast<double>(terms)) *
         unit_roundoff;
}

/// Empty where every row of `width` logits is within the tolerance; else the worst row.
template <class Want>
std::string worst_row(const std::vector<float>& got, const Want& want, index_t width,
                      double tolerance) {
  if (got.size() != want.size() || got.empty()) return "sizes differ, or there is nothing";
  double worst = 0;
  std::ostringstream text;
  for (std::size_t first = 0; first < got.size(); first += static_cast<std::size_t>(width)) {
    double difference = 0, size = 0;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(width); ++i) {
      difference += std::pow(double{got[i]} - double(want[i]), 2);
      size += std::pow(double(want[i]), 2);
    }
    const double error = std::sqrt(difference / size);
    if (error <= tolerance || error <= worst) continue;
    worst = error;
    text.str("");
    text << "row " << first / static_cast<std::size_t>(width) << ": relative error " << error
         << ", allowed " << tolerance << "; it starts with " << got[first] << ", expected "
         << double(want[first]);
    if (!(error == error)) break;
  }
  return text.str();
}

/// Random weights for any configuration, the formats dealt out in turn to the matrices.
class RandomWeights {
 public:
  RandomWeights(const Config& config, std::vector<Dtype> formats, std::uint64_t seed)
      : c_(config), formats_(std::move(formats)), random_(seed) {}

  DecoderWeights make() {
    const Dims& d = c_.dims;
    DecoderWeights w;
    const Vocab<> vocab(d.vocab);
    const Model<> model(d.model);
    const Shape<Vocab<>> v(vocab);
    const Shape<Model<>> m(model);
    w.embedding =
        matrix<Axes<Vocab<>>, Axes<Model<>>>(v, m, std::sqrt(static_cast<float>(d.model)));
    if (!c_.tie_embeddings) w.head = matrix<Axes<Vocab<>>, Axes<Model<>>>(v, m);
    w.norm = norm(d.model);
    if (c_.rope.stored_factors) {
      for (index_t i = 0; i < rotary_dims(c_) / 2; ++i) {
        w.rope_factors.push_back(1 + 4 * random_.uniform());
      }
    }
    for (index_t i = 0; i < d.layers; ++i) w.blocks.push_back(block(m));
    return w;
  }

 private:
  BlockWeights block(const Shape<Model<>>& m) {
    const Dims& d = c_.dims;
    const Shape<Heads<>, HeadDim<>> q{Heads<>(d.heads), HeadDim<>(d.head_dim)};
    const Shape<KvHeads<>, HeadDim<>> kv{KvHeads<>(d.kv_heads), HeadDim<>(d.head_dim)};
    const Shape<Hidden<>> f{Hidden<>(d.hidden)};
    const bool pre = c_.norm_placement != NormPlacement::post;
    const bool post = c_.norm_placement != NormPlacement::pre;
    const bool full = c_.qk_norm == QkNorm::full;
    BlockWeights w;
    if (pre) w.attention_norm = norm(d.model), w.ffn_norm = norm(d.model);
    if (post) w.attention_post_norm = norm(d.model), w.ffn_post_norm = norm(d.model);
    w.q = matrix<Axes<Heads<>, HeadDim<>>, Axes<Model<>>>(q, m, 1.5f);
    w.k = matrix<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>>(kv, m, 1.5f);
    w.v = matrix<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>>(kv, m);
    w.out = matrix<Axes<Model<>>, Axes<Heads<>, HeadDim<>>>(m, q);
    w.gate = matrix<Axes<Hidden<>>, Axes<Model<>>>(f, m);
    w.up = matrix<Axes<Hidden<>>, Axes<Model<>>>(f, m);
    w.down = matrix<Axes<Model<>>, Axes<Hidden<>>>(m, f);
    if (c_.qkv_bias) w.q_bias = vector(q.count()), w.k_bias = vector(kv.count());
    if (c_.qkv_bias) w.v_bias = vector(kv.count());
    if (c_.output_bias) w.out_bias = vector(d.model);
    if (c_.ffn_bias) w.gate_bias = vector(d.hidden), w.up_bias = vector(d.hidden);
    if (c_.ffn_bias) w.down_bias = vector(d.model);
    if (c_.qk_norm != QkNorm::none) {
      w.q_norm = norm(full ? q.count() : d.head_dim);
      w.k_norm = norm(full ? kv.count() : d.head_dim);
    }
    return w;
  }

  std::vector<float> vector(index_t n, float mean = 0) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& x : values) x = mean + 0.3f * random_.normal();
    return values;
  }
  std::vector<float> norm(index_t n) {
    return vector(n, static_cast<float>(1 - c_.norm_weight_offset));
  }

  /// Numbers of size / sqrt(inputs).
  template <class Out, class In>
  Weight<Out, In> matrix(const shape_of<Out>& out, const shape_of<In>& in, float size = 1) {
    const index_t count = out.count() * in.count();
    const float deviation = size / std::sqrt(static_cast<float>(in.count()));
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& x : values) x = deviation * random_.normal();
    const Dtype format = formats_[dealt_++ % formats_.size()];
    Buffer<std::byte> bytes(row_bytes(format, in.count()) * out.count());
    kernels::encode(format, values.data(), count, bytes.data());
    const std::byte* data = bytes.data();
    const index_t size_in_bytes = bytes.size();
    return {out, in, format, data, size_in_bytes, Owner::of(std::move(bytes))};
  }

  const Config& c_;
  std::vector<Dtype> formats_;
  std::size_t dealt_ = 0;
  Random random_;
};

/// The logits of `tokens` after each of them, from position 0, in a fresh cache.
template <Dims dims>
std::vector<float> logits_of(const Decoder<dims>& decoder, const Tokens& tokens,
                             index_t rows = 256) {
  Workspace workspace(decoder, rows);
  KvCache cache(decoder.config(), static_cast<index_t>(tokens.size()));
  return numbers(decoder.all_logits(workspace, cache, tokens));
}

inline Tokens random_tokens(index_t count, index_t vocab, std::uint64_t seed) {
  Random random(seed);
  Tokens tokens;
  for (index_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<token_t>(random.uniform() * static_cast<float>(vocab)));
  }
  return tokens;
}

/// Sets the number of threads, and back at the end.
struct WithThreads {
  explicit WithThreads(int threads) { set_threads(threads); }
  ~WithThreads() { set_threads(0); }
};

/// What a call complains of; "nothing" where it does not.
template <class E = Error, class Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing";
}

/// A model large enough for several threads to have something to do in every step.
struct Wider {
  Wider() : config(make()), decoder(config, RandomWeights(config, formats(), 5).make()) {}

  static Config make() {
    Config config;
    config.dims = {.layers = 2,
                   .vocab = 700,
                   .model = 256,
                   .heads = 8,
                   .kv_heads = 2,
                   .head_dim = 32,
                   .hidden = 384};
    return config;
  }
  static std::vector<Dtype> formats() { return {Dtype::q8_0, Dtype::f32, Dtype::q4_0}; }

  Config config;
  Decoder<> decoder;
};

}  // namespace imbrex::tests
