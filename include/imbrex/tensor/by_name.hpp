// Operations by axis name: none of them copies or moves an element, and what they return is valid
// while x's elements are. A tensor must therefore be a variable: what a view of a temporary sees is
// gone with the next semicolon.
#pragma once

#include "imbrex/tensor/agree.hpp"
#include "imbrex/tensor/tensor_like.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace by_name_detail {

template <class X>
using element = std::remove_pointer_t<decltype(std::declval<X&>().view().data())>;

/// The view type over X's elements with the axes of a list.
template <class X, class List>
using retyped = view_of<element<X>, List>;

/// A view over X's elements whose axes, sizes and strides were computed by the caller.
template <class X, class List>
constexpr retyped<X, List> make(X& x, const index_t* sizes, const index_t* strides,
                                index_t offset = 0) {
  auto v = x.view();
  return retyped<X, List>(v.data() + offset, shape_of<List>::from_sizes(sizes), strides);
}

/// The list, or another one where the assertion on it failed: one mistake, one error.
template <bool Right, class List, class Otherwise>
using if_right = std::conditional_t<Right, List, Otherwise>;

/// The place of A in x's list of axes; 0 where the assertion failed.
template <template <index_t> class A, class X>
constexpr index_t place = has_axis<A, axes_of<X>> ? find_axis<A, axes_of<X>> : 0;

/// The size of axis i, without a view where x knows it by itself: loops ask for it at every turn.
template <class X>
constexpr index_t size_of(const X& x, index_t i) {
  if constexpr (requires { x.size(i); }) {
    return x.size(i);
  } else {
    return x.view().size(i);
  }
}

}  // namespace by_name_detail

/// The size of the axis named A: dim<Time>(x).
template <template <index_t> class A, TensorLike X>
constexpr index_t dim(const X& x) {
  static_assert(has_axis<A, axes_of<X>>, "dim<A>(x): x must have the axis A");
  return by_name_detail::size_of(x, by_name_detail::place<A, X>);
}

/// The axis named A with its size, static where x's is: axis<Model>(x).
template <template <index_t> class A, TensorLike X>
constexpr auto axis(const X& x) {
  static_assert(has_axis<A, axes_of<X>>, "axis<A>(x): x must have the axis A");
  return make_axis<axis_named<A, axes_of<X>>>(
      by_name_detail::size_of(x, by_name_detail::place<A, X>));
}

/// Positions [from, from + count) of the axis A: slice<Time>(x, 3, 2). The axis becomes dynamic.
/// Throws ShapeError where the range leaves the axis.
template <template <index_t> class A, TensorLike X>
constexpr auto slice(X&& x, index_t from, index_t count) {
  static_assert(outlives_the_call<X>,
                "slice<A>(x, from, count): x must be a variable or a view, not a temporary");
  static_assert(has_axis<A, axes_of<X>>, "slice<A>(x, from, count): x must have the axis A");
  using List = replace_axis<A, Axes<A<dyn>>, axes_of<X>>;
  constexpr index_t at = by_name_detail::place<A, X>;
  auto v = x.view();
  if (from < 0 || count < 0 || from > v.size(at) || count > v.size(at) - from) {
    const index_t sizes[] = {v.size(at), from, count};
    const char* names[] = {A<dyn>::name, "from", "count"};
    fail<ShapeError>("slice: the range must lie inside the axis", {"", names, sizes, 3});
  }
  index_t sizes[list_size<List> + 1] = {};
  v.shape().copy_sizes(sizes);
  sizes[at] = count;
  return by_name_detail::make<std::remove_reference_t<X>, List>(x, sizes, v.strides(),
                                                                from * v.stride(at));
}

/// The axis A cut into two, outer and inner: split<Model>(x, Heads<9>(), HeadDim<64>()). Throws
/// ShapeError where the sizes do not multiply to A's.
template <template <index_t> class A, TensorLike X, AxisType Outer, AxisType Inner>
constexpr auto split(X&& x, Outer outer, Inner inner) {
  using Old = axes_of<X>;
  using New = replace_axis<A, Axes<Outer, Inner>, Old>;
  static_assert(outlives_the_call<X>,
                "split<A>(x, outer, inner): x must be a variable or a view, not a temporary");
  static_assert(has_axis<A, Old>, "split<A>(x, outer, inner): x must have the axis A");
  static_assert(names_differ<New>,
                "split<A>(x, outer, inner): the names must differ from x's other axes");
  static_assert(sizes_multiply<Outer, Inner, axis_named<A, Old>>,
                "split<A>(x, outer, inner): the two sizes must multiply to the axis's");
  using List = by_name_detail::if_right<has_axis<A, Old> && names_differ<New>, New, Old>;
  constexpr index_t rank = list_size<Old>, at = by_name_detail::place<A, X>;
  auto v = x.view();
  index_t product = 0;
  if (!multiply_fits(outer.size(), inner.size(), product) || product != v.size(at)) {
    const index_t sizes[] = {v.size(at), outer.size(), inner.size()};
    const char* names[] = {A<dyn>::name, Outer::name, Inner::name};
    fail<ShapeError>("split: the two sizes must multiply to the axis's", {"", names, sizes, 3});
  }
  index_t sizes[rank + 2] = {}, strides[rank + 2] = {};
  for (index_t i = 0, to = 0; i < rank; ++i, ++to) {
    sizes[to] = i == at ? outer.size() : v.size(i);
    strides[to] = i == at ? v.stride(i) * inner.size() : v.stride(i);
    if (i == at) {
      ++to;
      sizes[to] = inner.size();
      strides[to] = v.stride(i);
    }
  }
  return by_name_detail::make<std::remove_reference_t<X>, List>(x, sizes, strides);
}

/// Two neighbouring axes as one: merge<Heads, HeadDim>(x, Model<576>()). Throws ShapeError where
/// the elements are not evenly spaced over both, or the product is not the new axis's size.
template <template <index_t> class A, template <index_t> class B, TensorLike X, AxisType Merged>
constexpr auto merge(X&& x, Merged merged) {
  using Old = axes_of<X>;
  constexpr bool has = has_neighbours<A, B, Old>;
  using New =
      by_name_detail::if_right<has, replace_axis<A, Axes<Merged>, replace_axis<B, Axes<>, Old>>,
                               Old>;
  static_assert(outlives_the_call<X>,
                "merge<A, B>(x, merged): x must be a variable or a view, not a temporary");
  static_assert(has_neighbours<A, B, Old>,
                "merge<A, B>(x, merged): x must have the axes A and B, B right after A");
  static_assert(names_differ<New>,
                "merge<A, B>(x, merged): the name must differ from x's other axes");
  using Whole = by_name_detail::if_right<has, Merged, Model<>>;
  static_assert(sizes_multiply<axis_named<A, Old>, axis_named<B, Old>, Whole>,
                "merge<A, B>(x, merged): the two sizes must multiply to the new axis's");
  using List = by_name_detail::if_right<names_differ<New>, New, Old>;
  constexpr index_t rank = list_size<Old>, at = has ? by_name_detail::place<A, X> : 0;
  auto v = x.view();
  const index_t outer = v.size(at), inner = v.size(at + 1);
  const bool even = outer <= 1 || inner <= 1 || v.stride(at) == v.stride(at + 1) * inner;
  index_t product = 0;
  if (!even || !multiply_fits(outer, inner, product) || merged.size() != product) {
    const index_t sizes[] = {outer, inner, v.stride(at), v.stride(at + 1), merged.size()};
    const char* names[] = {A<dyn>::name, B<dyn>::name, "outer stride", "inner stride",
                           Merged::name};
    fail<ShapeError>("merge: the two axes must lie evenly and multiply to the new one",
                     {"", names, sizes, 5});
  }
  index_t sizes[rank + 1] = {}, strides[rank + 1] = {};
  for (index_t to = 0; to + 1 < rank; ++to) {
    const index_t i = to <= at ? to : to + 1;
    sizes[to] = to == at ? merged.size() : v.size(i);
    strides[to] = to == at && inner != 1 ? v.stride(at + 1) : v.stride(i);
  }
  return by_name_detail::make<std::remove_reference_t<X>, List>(x, sizes, strides);
}

/// The axes in another order: permute<Heads, Time, HeadDim>(x). All of x's axes are named, once.
template <template <index_t> class... Order, TensorLike X>
constexpr auto permute(X&& x) {
  using Old = axes_of<X>;
  static_assert(outlives_the_call<X>,
                "permute<A...>(x): x must be a variable or a view, not a temporary");
  static_assert(names_all<Old, Order...>, "permute<A...>(x): every axis of x must be named, once");
  using List =
      by_name_detail::if_right<names_all<Old, Order...>, Axes<axis_named<Order, Old>...>, Old>;
  [[maybe_unused]] auto v = x.view();  // unused where there are no axes
  const index_t sizes[] = {v.size(by_name_detail::place<Order, X>)..., 0};
  const index_t strides[] = {v.stride(by_name_detail::place<Order, X>)..., 0};
  return by_name_detail::make<std::remove_reference_t<X>, List>(x, sizes, strides);
}

/// The last two axes exchanged.
template <TensorLike X>
constexpr auto transpose(X&& x) {
  static_assert(outlives_the_call<X>,
                "transpose(x): x must be a variable or a view, not a temporary");
  static_assert(rank_at_least<axes_of<X>, 2>, "transpose(x): x must have two axes or more");
  using Old =
      by_name_detail::if_right<rank_at_least<axes_of<X>, 2>, axes_of<X>, Axes<Time<>, Model<>>>;
  constexpr index_t n = list_size<Old>;
  using List = join<drop_last<Old, 2>, Axes<axis_at<n - 1, Old>, axis_at<n - 2, Old>>>;
  auto v = x.view();
  index_t sizes[n + 1] = {}, strides[n + 1] = {};
  for (index_t to = 0; to < n; ++to) {
    const index_t i = to == n - 1 ? n - 2 : to == n - 2 ? n - 1 : to;
    sizes[to] = v.size(i);
    strides[to] = v.stride(i);
  }
  return by_name_detail::make<std::remove_reference_t<X>, List>(x, sizes, strides);
}

/// The axis A under another name, of the same size: rename<Time, Keys>(x).
template <template <index_t> class A, template <index_t> class B, TensorLike X>
constexpr auto rename(X&& x) {
  using Old = axes_of<X>;
  using New = replace_axis<A, Axes<B<axis_named<A, Old>::static_size>>, Old>;
  static_assert(outlives_the_call<X>,
                "rename<A, B>(x): x must be a variable or a view, not a temporary");
  static_assert(has_axis<A, Old>, "rename<A, B>(x): x must have the axis A");
  static_assert(names_differ<New>, "rename<A, B>(x): x must not have the axis B already");
  using List = by_name_detail::if_right<names_differ<New>, New, Old>;
  auto v = x.view();
  index_t sizes[list_size<List> + 1] = {};
  v.shape().copy_sizes(sizes);
  return by_name_detail::make<std::remove_reference_t<X>, List>(x, sizes, v.strides());
}

}  // namespace imbrex::inline IMBREX_ABI
