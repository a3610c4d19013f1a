// What generic code over tensors is written with: the concept, and types computed from axes.
#pragma once

#include <type_traits>
#include <utility>

#include "imbrex/tensor/axis_list.hpp"

namespace imbrex {

/// A tensor or a view: has elements, axes, and a view of itself.
template <class X>
concept TensorLike = requires(const std::remove_cvref_t<X>& x) {
  typename std::remove_cvref_t<X>::element_type;
  typename std::remove_cvref_t<X>::axes;
  x.view();
};

/// Whether a view of what was passed as X&& sees elements that live on after the call: a
/// variable's, or those that a view sees already; not those of a temporary tensor.
template <class X>
inline constexpr bool outlives_the_call =
    std::is_lvalue_reference_v<X> ||
    std::is_same_v<decltype(std::declval<X&>().view()), std::remove_cvref_t<X>>;

/// The list of axes of a tensor, a view, or a reference to one.
template <class X>
using axes_of = typename std::remove_cvref_t<X>::axes;

/// The last axis of a tensor.
template <class X>
using last_axis = axis_at<list_size<axes_of<X>> - 1, axes_of<X>>;

/// The axes of a tensor, the last one replaced by A.
template <class X, class A>
using replace_last = join<drop_last<axes_of<X>, 1>, Axes<A>>;

/// The axes of a tensor, the last `Count` replaced by those of a list.
template <class X, index_t Count, class List>
using replace_tail = join<drop_last<axes_of<X>, Count>, List>;

namespace tensor_like_detail {

template <class Layer, class X>
constexpr bool takes_elements = true;
template <class Layer, class X>
  requires requires { typename Layer::input_type; }
constexpr bool takes_elements<Layer, X> =
    std::is_same_v<std::remove_const_t<typename std::remove_cvref_t<X>::element_type>,
                   typename Layer::input_type>;

}  // namespace tensor_like_detail

/// Whether layer(x) would pass the layer's checks, as far as the compiler can know. (The call
/// itself always compiles up to its assertion, so that there is one readable error; this asks
/// without one.)
template <class Layer, class X>
inline constexpr bool accepts = false;
template <class Layer, TensorLike X>
inline constexpr bool accepts<Layer, X> =
    Layer::template accepts_axes<axes_of<X>> && tensor_like_detail::takes_elements<Layer, X>;

}  // namespace imbrex
