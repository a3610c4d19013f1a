// error: network(x): x must end with the axes Time and Model<512>
// shows: axes_agree< | Hidden<1376> | Model<512>
#include "imbrex/layers/block.hpp"

using namespace imbrex;

// Blocks in a pair, pairs in a tower, the tower in a network that takes anything and asserts, as the
// library's own layers do: once, at the door, and what lies behind it is not called.
struct Pair {
  Block<Model<512>, Heads<8>, KvHeads<2>, HeadDim<64>, Hidden<1376>> first, second;

  template <TensorLike X>
  auto operator()(const X& x) const {
    return second(first(x));
  }
};

struct Tower {
  Pair lower, upper;

  template <TensorLike X>
  auto operator()(const X& x) const {
    return upper(lower(x));
  }
};

struct Network {
  Tower tower;

  template <TensorLike X>
  auto operator()(const X& x) const {
    using In = Axes<Time<>, Model<512>>;
    static_assert(axes_agree<tail_of<X, In>, In>,
                  "network(x): x must end with the axes Time and Model<512>");
    if constexpr (axes_agree<tail_of<X, In>, In>) return tower(x);
  }
};

void mistake(const Network& network) {
#ifdef SHOULD_FAIL
  network(zeros<float>(Batch<>(2), Time<>(16), Hidden<1376>()));
#else
  network(zeros<float>(Batch<>(2), Time<>(16), Model<512>()));
#endif
}
