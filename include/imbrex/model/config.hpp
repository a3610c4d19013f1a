// What a decoder is, in numbers and choices: sizes, norms, activation, positions, caps. A value
// without pointers; the defaults are Llama's. Whether its values make sense is asked of
// config_check.hpp, what they add up to of ledger.hpp.
#pragma once

#include <cstdint>

#include "imbrex/base/activation.hpp"
#include "imbrex/base/rope_pairs.hpp"
#include "imbrex/layers/norm_kind.hpp"
#include "imbrex/layers/rope_scaling.hpp"
#include "imbrex/model/dims.hpp"

namespace imbrex::inline IMBREX_ABI {

/// gated: down(act(gate(x)) * up(x)), three matrices (Shazeer 2020); plain: down(act(up(x))), two.
enum class FeedForwardKind : std::uint8_t { gated, plain };

/// How a token's position enters: rotations of queries and keys, a learned table [Context, Model]
/// added to the embedding, or not at all.
enum class Positions : std::uint8_t { rope, learned, none };

/// The layers i = n-1, 2n-1, ... (counted from 0), "every n-th"; none of them for n = 0.
struct EveryNth {
  index_t n = 0;

  /// Whether `layer`, counted from 0, is one of them.
  constexpr bool operator()(index_t layer) const { return n > 0 && (layer + 1) % n == 0; }

  /// How many of the first `layers` layers.
  constexpr index_t count(index_t layers) const { return n > 0 ? layers / n : 0; }

  friend constexpr bool operator==(const EveryNth&, const EveryNth&) = default;
};

/// Rotary positions (Su et al. 2021).
struct RopeConfig {
  double theta = 10000;
  /// Of the weights as they lie in the file: Llama's own files and GGUF are interleaved, Hugging
  /// Face's hold the same model with rows of q and k permuted to half.
  RopePairs pairs = RopePairs::interleaved;
  index_t rotary_dims = 0;  ///< leading elements of a head that turn; 0 is the whole head
  RopeScaling scaling{};
  /// The frequencies are divided, besides, by a factor each that lies with the weights
  /// (rope_freqs.weight in GGUF, which is how llama3 scaling is written there).
  bool stored_factors = false;
  EveryNth skipped_layers{};  ///< layers without positions ("NoPE")
  friend constexpr bool operator==(const RopeConfig&, const RopeConfig&) = default;
};

/// A decoder's configuration. Trivially copyable and a literal type.
struct Config {
  Dims dims{};
  index_t context = 2048;       ///< positions it was made for
  bool tie_embeddings = false;  ///< the output head is the embedding itself

  bool qkv_bias = false;     ///< biases of the query, key and value projections
  bool output_bias = false;  ///< bias of the attention's output projection
  bool ffn_bias = false;     ///< biases of all the feed-forward matrices
  bool norm_bias = false;    ///< layer_norm only: norms have a bias beside their weight

  /// Norms: which kind, where in a block, and over queries and keys.
  NormKind norm = NormKind::rms_norm;
  NormPlacement norm_placement = NormPlacement::pre;
  double norm_eps = 1e-5;         ///< inside the root
  double norm_weight_offset = 0;  ///< norms multiply by offset + w (Gemma: 1)
  QkNorm qk_norm = QkNorm::none;

  /// The feed-forward layer.
  Activation activation = Activation::silu;
  FeedForwardKind feed_forward = FeedForwardKind::gated;

  /// How positions enter.
  Positions positions = Positions::rope;
  RopeConfig rope{};

  double attention_scale = 0;    ///< of q.k; 0 is 1 / sqrt(head_dim)
  double attention_softcap = 0;  ///< scores become cap tanh(score / cap); 0 is no cap
  double logit_softcap = 0;      ///< the same for the logits
  double embedding_scale = 1;    ///< multiplies the embedding on the way in
  index_t window = 0;            ///< keys a query sees, itself included; 0 is all before it
  EveryNth global_layers{};      ///< layers that the window does not apply to

  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Elements of a head that RoPE turns.
constexpr index_t rotary_dims(const Config& config) {
  return config.rope.rotary_dims == 0 ? config.dims.head_dim : config.rope.rotary_dims;
}

/// Whether RoPE is applied in `layer`, counted from 0.
constexpr bool rotates(const Config& config, index_t layer) {
  return config.positions == Positions::rope && !config.rope.skipped_layers(layer);
}

/// Keys that a query sees in `layer`, itself included; 0 is all before it.
constexpr index_t window(const Config& config, index_t layer) {
  return config.global_layers(layer) ? 0 : config.window;
}

}  // namespace imbrex::inline IMBREX_ABI
