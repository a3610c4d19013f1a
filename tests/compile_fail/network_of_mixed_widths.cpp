// error: block(x): x must end with the axes Time and the model's
// shows: axes_agree< | Model<512> | Model<576>
#include "imbrex/layers/block.hpp"

using namespace imbrex;

#ifdef SHOULD_FAIL
constexpr index_t upper_width = 576;
#else
constexpr index_t upper_width = 512;
#endif

template <index_t Width>
using Tile = Block<Model<Width>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>>;
using Activations = Tensor<float, Batch<>, Time<>, Model<512>>;

// Blocks in a pair, the pair in a tower, the tower in a network; the mistake is in the innermost.
struct Pair {
  Tile<512> first;
  Tile<upper_width> second;
  auto operator()(const Activations& x) const { return second(first(x)); }
};

struct Tower {
  Pair pair;
  auto operator()(const Activations& x) const { return pair(x); }
};

struct Network {
  Tower tower;
  auto operator()(const Activations& x) const { return tower(x); }
};

auto mistake(const Network& network) {
  return network(zeros<float>(Batch<>(2), Time<>(16), Model<512>()));
}
