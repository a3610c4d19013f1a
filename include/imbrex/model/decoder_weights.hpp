// The weights of a decoder before they are layers: matrices in any format, vectors in f32.
#pragma once

#include <vector>

#include "imbrex/tensor/weight.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The weights of one block. Empty where the model has no such part.
struct BlockWeights {
  std::vector<float> attention_norm, attention_post_norm;  ///< [Model]
  Weight<Axes<Heads<>, HeadDim<>>, Axes<Model<>>> q;
  Weight<Axes<KvHeads<>, HeadDim<>>, Axes<Model<>>> k, v;
  Weight<Axes<Model<>>, Axes<Heads<>, HeadDim<>>> out;
  std::vector<float> q_bias;          ///< [Heads, HeadDim]
  std::vector<float> k_bias, v_bias;  ///< [KvHeads, HeadDim]
  std::vector<float> out_bias;        ///< [Model]
  std::vector<float> q_norm, k_norm;  ///< [HeadDim], or [Heads, HeadDim] and [KvHeads, HeadDim]

  /// The feed-forward layer.
  std::vector<float> ffn_norm, ffn_post_norm;  ///< [Model]
  Weight<Axes<Hidden<>>, Axes<Model<>>> gate, up;
  Weight<Axes<Model<>>, Axes<Hidden<>>> down;
  std::vector<float> gate_bias, up_bias;  ///< [Hidden]
  std::vector<float> down_bias;           ///< [Model]
};

/// All weights of a decoder. Matrices share the owner of their bytes.
struct DecoderWeights {
  Weight<Axes<Vocab<>>, Axes<Model<>>> embedding;
  std::vector<BlockWeights> blocks;
  std::vector<float> norm;                    ///< [Model]
  Weight<Axes<Vocab<>>, Axes<Model<>>> head;  ///< empty where it is the embedding
  std::vector<float> rope_factors;            ///< what each RoPE frequency is divided by; or empty
};

}  // namespace imbrex::inline IMBREX_ABI
