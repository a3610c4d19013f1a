// Weights to start from where there is no checkpoint: normal, scaled by the number of inputs.
#pragma once

#include <cmath>

#include "imbrex/base/random.hpp"
#include "imbrex/layers/linear.hpp"

namespace imbrex::inline IMBREX_ABI {

/// f32 weights drawn from N(0, 1/inputs), so that y = x W^T keeps the variance of x (LeCun et al.,
/// "Efficient BackProp", 1998): random_weight<Axes<Hidden<>>, Axes<Model<>>>({h}, {m}, random).
template <class Out, class In>
Weight<Out, In> random_weight(const shape_of<Out>& out, const shape_of<In>& in, Random& random) {
  index_t sizes[list_size<Out> + list_size<In>] = {};
  out.copy_sizes(sizes);
  in.copy_sizes(sizes + list_size<Out>);
  using List = join<Out, In>;
  tensor_of<float, List> w(shape_of<List>::from_sizes(sizes));
  const float deviation = 1.0f / std::sqrt(static_cast<float>(greater(in.count(), 1)));
  for (index_t i = 0; i < w.count(); ++i) w.data()[i] = deviation * random.normal();
  return Weight<Out, In>(std::move(w));
}

/// A linear layer of such weights, without a bias.
template <class In, class Out>
Linear<In, Out> random_linear(const shape_of<list_of<Out>>& out, const shape_of<list_of<In>>& in,
                              Random& random, std::string path = {}) {
  return Linear<In, Out>(random_weight<list_of<Out>, list_of<In>>(out, in, random),
                         std::move(path));
}

/// The same where the compiler knows all sizes: random_linear<Model<512>, Hidden<1376>>(random).
template <class In, class Out>
Linear<In, Out> random_linear(Random& random, std::string path = {}) {
  constexpr bool known = shape_of<join<list_of<Out>, list_of<In>>>::dynamic_rank == 0;
  static_assert(known,
                "random_linear<In, Out>(random): sizes that the compiler does not know are "
                "given: random_linear<In, Out>(out, in, random)");
  if constexpr (known) {
    return random_linear<In, Out>({}, {}, random, std::move(path));
  } else {
    return {};
  }
}

}  // namespace imbrex::inline IMBREX_ABI
