// Decoders with random weights, for programs that measure time: every matrix has bytes of its own.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/model/decoder.hpp"
#include "zero_weights.hpp"

namespace examples {

/// A weight of the same shape and format with random numbers of variance 1 / inputs. Its rows are
/// drawn from 64 different ones: a pass costs the same, and a large model is made in less time.
template <class Out, class In>
imbrex::Weight<Out, In> random_like(const imbrex::Weight<Out, In>& w, imbrex::Random& random) {
  using namespace imbrex;
  constexpr index_t different = 64;
  const float size = std::sqrt(12.0f / static_cast<float>(w.cols()));
  Buffer<std::byte> rows(different * w.row_bytes()), bytes(w.bytes());
  std::vector<float> numbers(static_cast<std::size_t>(different * w.cols()));
  for (float& x : numbers) x = size * (random.uniform() - 0.5f);
  kernels::encode(w.dtype(), numbers.data(), different * w.cols(), rows.data());
  for (index_t i = 0; i < w.rows(); ++i) {
    const index_t row = static_cast<index_t>(random() % different);
    std::memcpy(bytes.data() + i * w.row_bytes(), rows.data() + row * w.row_bytes(),
                static_cast<std::size_t>(w.row_bytes()));
  }
  const std::byte* data = bytes.data();
  return {w.out(), w.in(), w.dtype(), data, w.bytes(), Owner::of(std::move(bytes))};
}

/// Weights for the configuration, matrices in `dtype` (one that `kernels::encode` writes). Throws
/// ConfigError, CapacityError.
inline imbrex::DecoderWeights random_weights(const imbrex::Config& config, imbrex::Dtype dtype) {
  imbrex::Random random(1);
  imbrex::DecoderWeights w = ZeroWeights(config, dtype).make();
  const auto fill = [&](auto& weight) { weight = random_like(weight, random); };
  fill(w.embedding);
  if (!config.tie_embeddings) fill(w.head);
  for (imbrex::BlockWeights& b : w.blocks) {
    for (auto* weight : {&b.k, &b.v}) fill(*weight);
    for (auto* weight : {&b.gate, &b.up}) fill(*weight);
    fill(b.q);
    fill(b.out);
    fill(b.down);
  }
  return w;
}

/// A decoder with them. Throws ConfigError, ShapeError, CapacityError.
inline imbrex::Decoder<> random_decoder(const imbrex::Config& config, imbrex::Dtype dtype) {
  return imbrex::Decoder<>(config, random_weights(config, dtype));
}

}  // namespace examples
