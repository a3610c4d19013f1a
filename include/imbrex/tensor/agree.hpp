// When axes agree: the predicates that public operations assert, and that errors print.
#pragma once

#include "imbrex/tensor/axis.hpp"

namespace imbrex {

namespace agree_detail {

constexpr bool sizes_agree(index_t a, index_t b) { return a == b || a == dyn || b == dyn; }

template <class A, class B>
constexpr bool agree = false;
template <AxisType A, AxisType B>
constexpr bool agree<A, B> = same_name<A, B> && sizes_agree(A::static_size, B::static_size);
template <class... As, class... Bs>
constexpr bool agree<Axes<As...>, Axes<Bs...>> = false;
template <class... As, class... Bs>
  requires(sizeof...(As) == sizeof...(Bs))
constexpr bool agree<Axes<As...>, Axes<Bs...>> = (agree<As, Bs> && ...);

}  // namespace agree_detail

/// Whether two axes, or two lists of axes, can be the same at run time: equal names, and sizes that
/// are equal or not both known. What the compiler cannot know is checked at run time.
template <class A, class B>
inline constexpr bool axes_agree = agree_detail::agree<A, B>;

/// Whether a `From` is a `To` with nothing left to check: equal names, and every size of To the
/// same or dynamic.
template <class From, class To>
inline constexpr bool axes_convert = false;
template <class... Fs, class... Ts>
  requires(axes_agree<Axes<Fs...>, Axes<Ts...>>)
inline constexpr bool axes_convert<Axes<Fs...>, Axes<Ts...>> =
    ((Fs::static_size == Ts::static_size || Ts::static_size == dyn) && ...);

/// Whether a list of axes ends with the axes of another: what a layer asks of its argument.
template <class X, class Tail>
inline constexpr bool axes_end_with = false;
template <class... Xs, class... Ts>
  requires(sizeof...(Xs) == sizeof...(Ts))
inline constexpr bool axes_end_with<Axes<Xs...>, Axes<Ts...>> =
    axes_agree<Axes<Xs...>, Axes<Ts...>>;
template <class X, class... Xs, class... Ts>
  requires(sizeof...(Xs) + 1 > sizeof...(Ts))
inline constexpr bool axes_end_with<Axes<X, Xs...>, Axes<Ts...>> =
    axes_end_with<Axes<Xs...>, Axes<Ts...>>;

/// Whether two sizes can multiply to a third: what cutting an axis in two, or joining two, needs.
template <class Outer, class Inner, class Whole>
inline constexpr bool sizes_multiply = [] {
  constexpr index_t a = Outer::static_size, b = Inner::static_size, c = Whole::static_size;
  index_t product = 0;
  return a == dyn || b == dyn || c == dyn || (multiply_fits(a, b, product) && product == c);
}();

/// Whether KvHeads divides Heads, as far as the compiler can know.
template <class H, class K>
inline constexpr bool heads_divide = H::static_size == dyn || K::static_size == dyn ||
                                     (K::static_size > 0 && H::static_size % K::static_size == 0);

namespace agree_detail {

template <class A, index_t N>
struct Resized;
template <template <index_t> class A, index_t M, index_t N>
struct Resized<A<M>, N> {
  using type = A<N>;
};

}  // namespace agree_detail

/// K, or where it does not divide H, as many of its name as H: so that who has asserted on the two
/// can go on, and one mistake stays one error.
template <class H, class K>
using dividing_heads =
    typename agree_detail::Resized<K, heads_divide<H, K> ? K::static_size : H::static_size>::type;

}  // namespace imbrex
