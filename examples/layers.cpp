// Every layer once: what it is made of, and the shapes it maps.
#include <cstdio>

#include "imbrex/layers.hpp"
#include "imbrex/tensor.hpp"

using namespace imbrex;

namespace {

using M = Model<512>;
using F = Hidden<1376>;
using H = Heads<8>;
using K = KvHeads<2>;
using D = HeadDim<64>;

template <class X>
void show(const char* name, const X& x) {
  std::printf("%-14s %s\n", name, shape_text(x, "y").c_str());
}

template <class X>
void linear_layers(Random& random, const X& x) {
  auto gate = random_linear<M, F>(random, "blk.0.ffn_gate");
  show("Linear", gate(x));

  auto q = random_linear<M, Axes<H, D>>(random);
  show("Linear", q(x));

  auto hidden = zeros<float>(Batch<>(2), Time<>(16), F());
  gate.into(hidden, x);  // no allocation
}

void embedding_layer(Random& random) {
  Embedding<Vocab<1000>, M> embedding(random_weight<Axes<Vocab<1000>>, Axes<M>>({}, {}, random));
  const Tensor<token_t, Time<3>> ids(Shape<Time<3>>(), {17, 0, 999});
  show("Embedding", embedding(ids));
}

template <class X>
void norms(const X& x) {
  RMSNorm<M> rms_norm(full(1.0f, M()), {.eps = 1e-5f});
  show("RMSNorm", rms_norm(x));

  LayerNorm<M> layer_norm(full(1.0f, M()), full(0.0f, M()));
  show("LayerNorm", layer_norm(x));
}

template <class X>
void attention_layer(Random& random, const X& x) {
  Attention<M, H, K, D> attention;
  attention.q = random_linear<M, Axes<H, D>>(random);
  attention.k = random_linear<M, Axes<K, D>>(random);
  attention.v = random_linear<M, Axes<K, D>>(random);
  attention.out = random_linear<Axes<H, D>, M>(random);
  attention.rope.emplace(rope_frequencies(10000, D::size()), RopePairs::half);
  attention.mask = Mask::window(4096);
  show("Attention", attention(x));
}

template <class X>
void feed_forward_layers(Random& random, const X& x) {
  SwiGLU<M, F> swiglu;
  swiglu.gate = random_linear<M, F>(random);
  swiglu.up = random_linear<M, F>(random);
  swiglu.down = random_linear<F, M>(random);
  show("SwiGLU", swiglu(x));

  FFN<M, F> ffn;
  ffn.up = random_linear<M, F>(random);
  ffn.down = random_linear<F, M>(random);
  ffn.activation = Activation::relu;
  show("FFN", ffn(x));
}

}  // namespace

int main() {
  Random random(1);
  auto x = zeros<float>(Batch<>(2), Time<>(16), M());
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = random.normal();
  linear_layers(random, x);
  embedding_layer(random);
  norms(x);
  attention_layer(random, x);
  feed_forward_layers(random, x);
}
