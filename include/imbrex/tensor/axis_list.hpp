// Lists of axes: the last, the place of a name, one replaced, and so on. Types only.
#pragma once

#include "imbrex/tensor/axis.hpp"

namespace imbrex {

namespace list_detail {

template <class... Lists>
struct Join;
template <class... As>
struct Join<Axes<As...>> {
  using type = Axes<As...>;
};
template <class... As, class... Bs, class... Rest>
struct Join<Axes<As...>, Axes<Bs...>, Rest...> {
  using type = typename Join<Axes<As..., Bs...>, Rest...>::type;
};

template <class List>
struct Last;
template <class A>
struct Last<Axes<A>> {
  using type = A;
};
template <class A, class B, class... As>
struct Last<Axes<A, B, As...>> {
  using type = typename Last<Axes<B, As...>>::type;
};

/// The first `Count` axes of a list.
template <class List, index_t Count>
struct First;
template <class... As>
struct First<Axes<As...>, 0> {
  using type = Axes<>;
};
template <class A, class... As, index_t Count>
  requires(Count > 0)
struct First<Axes<A, As...>, Count> {
  using type = typename Join<Axes<A>, typename First<Axes<As...>, Count - 1>::type>::type;
};

template <class List>
inline constexpr index_t size = 0;
template <class... As>
inline constexpr index_t size<Axes<As...>> = sizeof...(As);

template <template <index_t> class A, class List>
inline constexpr index_t find = -1;
template <template <index_t> class A, class... As>
inline constexpr index_t find<A, Axes<As...>> = [] {
  constexpr bool is[] = {named<A, As>..., false};
  for (index_t i = 0; i < index_t{sizeof...(As)}; ++i) {
    if (is[i]) return i;
  }
  return index_t{-1};
}();

/// The axes of a list named A, replaced by the axes of another list.
template <template <index_t> class A, class With, class List>
struct Replace;
template <template <index_t> class A, class With, class... As>
struct Replace<A, With, Axes<As...>> {
  template <class B>
  struct One {
    using type = Axes<B>;
  };
  template <class B>
    requires named<A, B>
  struct One<B> {
    using type = With;
  };
  using type = typename Join<Axes<>, typename One<As>::type...>::type;
};

template <template <index_t> class A, class List>
struct Named {
  using type = A<dyn>;
};
template <template <index_t> class A, index_t N, class... As>
struct Named<A, Axes<A<N>, As...>> {
  using type = A<N>;
};
template <template <index_t> class A, class B, class... As>
struct Named<A, Axes<B, As...>> : Named<A, Axes<As...>> {};

template <index_t I, class List>
struct At;
template <index_t I, class A, class... As>
struct At<I, Axes<A, As...>> : At<I - 1, Axes<As...>> {};
template <class A, class... As>
struct At<0, Axes<A, As...>> {
  using type = A;
};

}  // namespace list_detail

/// Lists one after the other.
template <class... Lists>
using join = typename list_detail::Join<Axes<>, Lists...>::type;

/// How many axes a list has.
template <class List>
inline constexpr index_t list_size = list_detail::size<List>;

/// The place of the axis named A in a list, -1 where it is not there.
template <template <index_t> class A, class List>
inline constexpr index_t find_axis = list_detail::find<A, List>;

/// Whether a list has an axis named A, and whether B comes right after A in it.
template <template <index_t> class A, class List>
inline constexpr bool has_axis = find_axis<A, List> >= 0;
template <template <index_t> class A, template <index_t> class B, class List>
inline constexpr bool has_neighbours =
    has_axis<A, List> && find_axis<B, List> == find_axis<A, List> + 1;

/// Whether no name stands twice in a list.
template <class List>
inline constexpr bool names_differ = true;
template <class A, class... As>
inline constexpr bool names_differ<Axes<A, As...>> =
    (!same_name<A, As> && ...) && names_differ<Axes<As...>>;

/// Whether `Order` names every axis of a list, once.
template <class List, template <index_t> class... Order>
inline constexpr bool names_all =
    sizeof...(Order) == list_size<List> && (has_axis<Order, List> && ...) &&
    names_differ<Axes<Order<dyn>...>>;

/// Whether a list has so many axes or more.
template <class List, index_t Count>
inline constexpr bool rank_at_least = list_size<List> >= Count;

/// The I-th axis of a list.
template <index_t I, class List>
using axis_at = typename list_detail::At<I, List>::type;

/// The axis named A of a list; A<> where it is not there.
template <template <index_t> class A, class List>
using axis_named = typename list_detail::Named<A, List>::type;

/// A list with its axis A replaced by the axes of the list `With`.
template <template <index_t> class A, class With, class List>
using replace_axis = typename list_detail::Replace<A, With, List>::type;

/// A list less its last `Count` axes; the whole list where it has fewer.
template <class List, index_t Count>
using drop_last =
    typename list_detail::First<List,
                                (list_size<List> > Count ? list_size<List> - Count : 0)>::type;

}  // namespace imbrex
