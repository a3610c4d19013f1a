// A decoder block with random weights: 512 wide, 8 query heads over 2 key heads, feed-forward 1376
// wide, on two sequences of 16 tokens.
#include <cmath>
#include <cstdio>
#include <string>

#include "command_line.hpp"
#include "imbrex/layers/block.hpp"
#include "imbrex/layers/random_weight.hpp"
#include "imbrex/layers/rope_frequencies.hpp"
#include "imbrex/tensor/print.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: block_forward\n"
    "\n"
    "Runs a decoder block with random weights and shows the shape of every step.\n";

using M = Model<512>;
using H = Heads<8>;
using K = KvHeads<2>;
using D = HeadDim<64>;
using F = Hidden<1376>;
using Tile = Block<M, H, K, D, F>;

Tile random_block(Random& random) {
  Tile block;
  block.attention_norm.emplace(full(1.0f, M()));
  block.attention.q = random_linear<M, Axes<H, D>>(random);
  block.attention.k = random_linear<M, Axes<K, D>>(random);
  block.attention.v = random_linear<M, Axes<K, D>>(random);
  block.attention.out = random_linear<Axes<H, D>, M>(random);
  block.attention.rope.emplace(rope_frequencies(10000, D::size()));
  block.ffn_norm.emplace(full(1.0f, M()));
  block.ffn.gate = random_linear<M, F>(random);
  block.ffn.up = random_linear<M, F>(random);
  block.ffn.down = random_linear<F, M>(random);
  return block;
}

/// Mean and root mean square.
template <class X>
void summarise(const char* name, const X& x) {
  double sum = 0, squares = 0;
  for (index_t i = 0; i < x.count(); ++i) {
    const double value = static_cast<double>(x.data()[i]);
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(x.count());
  std::printf("%-40s  mean %7.4f  rms %7.4f\n", shape_text(x, name).c_str(), sum / n,
              std::sqrt(squares / n));
}

bool run(int argc, char** argv) {
  if (!examples::parse_nothing(argc, argv)) return false;
  Random random(1);
  const Tile block = random_block(random);
  auto x = zeros<float>(Batch<>(2), Time<>(16), M());
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = random.normal();

  std::printf("the steps of the first sequence\n");
  bool first = true;
  const auto y = block(x, [&](const Step& step) {
    if (first) std::printf("  %s\n", step.shape_text().c_str());
    first = first && std::string(step.name) != "ffn_residual";
  });

  std::printf("\n");
  summarise("x", x);
  summarise("y", y);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("block_forward", usage, argc, argv, run);
}
