// The positions of a chunk's rows, on their way from a typed shape to kernels.
#pragma once

#include "imbrex/tensor/tensor_like.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A position of its sequence for each row.
using RowPositions = View<const index_t, Time<>>;

/// Whether P is a tensor of index_t with the axis Time alone: what layers assert.
template <class P>
inline constexpr bool are_positions =
    std::is_same_v<std::remove_const_t<typename std::remove_cvref_t<P>::element_type>, index_t> &&
    axes_agree<axes_of<P>, Axes<Time<>>>;

/// Positions as kernels take them; none where `are_positions` is false, which the caller
/// asserts. Throws ShapeError where they do not lie next to each other.
template <TensorLike P>
RowPositions as_positions(const P& positions) {
  if constexpr (are_positions<P>) {
    const RowPositions p(positions.view());
    if (p.size(0) > 1 && p.stride(0) != 1) {
      const index_t size = p.size(0);
      fail<ShapeError>("positions must lie next to each other",
                       {"positions", p.shape().names(), &size, 1},
                       {"strides", p.shape().names(), p.strides(), 1});
    }
    return p;
  } else {
    return {nullptr, Shape<Time<>>(Time<>(0))};
  }
}

}  // namespace imbrex::inline IMBREX_ABI
