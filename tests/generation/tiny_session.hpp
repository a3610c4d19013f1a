// Models for the tests of sessions: one that says what a script says, and one of random weights.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "imbrex/generation/session.hpp"
#include "tests/model/tiny_model.hpp"
#include "tests/text/tiny_vocabulary.hpp"

namespace imbrex::tests {

/// The 256 bytes, and the end of a text as token 256.
inline constexpr token_t end_of_text = 256;

inline VocabularyParts byte_vocabulary() {
  TinyVocabulary tiny;
  tiny.parts.special.end = tiny.add("<end>", TokenType::control);
  return tiny.parts;
}

inline token_t byte_token(char c) { return static_cast<token_t>(static_cast<unsigned char>(c)); }

/// A decoder that looks at the last token only. The embedding of token t is the t-th unit vector
/// e_t, attention and feed-forward add zeros, the norm makes s e_t of it with s = sqrt(width), and
/// so the logits are s times column t of the head, which a test writes.
class Script {
 public:
  explicit Script(index_t vocab = 257) : vocab_(vocab), width_(vocab + 1) {
    head_.resize(static_cast<std::size_t>(vocab_ * width_));
    embedding_ = head_;
    for (token_t t = 0; t < vocab_; ++t) at(embedding_, t, t) = 1;
  }

  /// Behind `from` comes `to`, with a logit of `weight` sqrt(width).
  Script& follow(token_t from, token_t to, float weight = 1) {
    at(head_, to, from) = weight;
    return *this;
  }

  /// The bytes of `text` come one after the other, and behind them the end of the text. No byte may
  /// stand twice.
  Script& say(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      follow(byte_token(text[i]), i + 1 < text.size() ? byte_token(text[i + 1]) : end_of_text);
    }
    return *this;
  }

  /// Behind `from` all logits are numbers but one, which is infinity - infinity.
  Script& fail_behind(token_t from) {
    at(embedding_, from, vocab_) = 1;  // the spare component
    at(head_, 0, from) = 3e38f;
    at(head_, 0, vocab_) = -3e38f;
    return *this;
  }

  Decoder<> decoder() const {
    Config config;
    config.dims = {.layers = 1,
                   .vocab = vocab_,
                   .model = width_,
                   .heads = 1,
                   .kv_heads = 1,
                   .head_dim = 2,
                   .hidden = 1};
    config.context = 64;
    DecoderWeights w = RandomWeights(config, {Dtype::f32}, 1).make();
    const Shape<Vocab<>> vocab{Vocab<>(vocab_)};
    const Shape<Model<>> width{Model<>(width_)};
    w.embedding = matrix<decltype(w.embedding)>(vocab, width, embedding_);
    w.head = matrix<decltype(w.head)>(vocab, width, head_);
    w.norm.assign(static_cast<std::size_t>(width_), 1.0f);
    BlockWeights& block = w.blocks[0];
    const Shape<Heads<>, HeadDim<>> heads{Heads<>(1), HeadDim<>(2)};
    const Shape<Hidden<>> hidden{Hidden<>(1)};
    block.out = matrix<decltype(block.out)>(width, heads);
    block.down = matrix<decltype(block.down)>(width, hidden);
    return {config, w};
  }

 private:
  float& at(std::vector<float>& matrix, index_t row, index_t column) const {
    return matrix[static_cast<std::size_t>(row * width_ + column)];
  }

  /// A stored matrix of those shapes; of zeros where there are no values.
  template <class W>
  static W matrix(const typename W::out_shape& out, const typename W::in_shape& in,
                  const std::vector<float>& values = {}) {
    Buffer<std::byte> bytes(out.count() * in.count() * index_t{sizeof(float)});
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size() * sizeof(float));
    const std::byte* data = bytes.data();
    const index_t size = bytes.size();
    return {out, in, Dtype::f32, data, size, Owner::of(std::move(bytes))};
  }

  index_t vocab_, width_;
  std::vector<float> embedding_, head_;
};

/// A decoder of random weights whose logits depend on all that came before; more rows than
/// tokens in `byte_vocabulary`.
inline constexpr Dims random_dims{2, 300, 64, 4, 2, 16, 96};

template <Dims dims = Dims{}>
Decoder<dims> random_decoder() {
  Config config;
  config.dims = random_dims;
  config.context = 64;
  return {config, RandomWeights(config, {Dtype::f32, Dtype::q8_0}, 5).make()};
}

}  // namespace imbrex::tests
