// Views: elements that somebody else owns, with named axes and any strides.
#pragma once

#include <limits>
#include <type_traits>

#include "imbrex/tensor/agree.hpp"
#include "imbrex/tensor/axis_list.hpp"
#include "imbrex/tensor/shape.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A T for each position of a shape; `stride(i)` elements lie between neighbours along axis i. Does
/// not own its elements: it is valid while their owner is. Copies of a view see the same elements.
template <class T, AxisType... As>
class View {
 public:
  using element_type = T;
  using axes = Axes<As...>;
  using shape_type = Shape<As...>;
  static constexpr index_t rank = sizeof...(As);

  /// Elements in row-major order without gaps.
  constexpr View(T* data, const shape_type& shape) : data_(data), shape_(shape) {
    index_t step = 1;
    for (index_t i = rank - 1; i >= 0; --i) {
      strides_[i] = step;
      step *= shape_.size(i);
    }
  }

  /// Elements with `rank` strides of their own. Throws ShapeError where they lead to elements whose
  /// distance from the first, in bytes, cannot be counted.
  constexpr View(T* data, const shape_type& shape, const index_t* strides)
      : data_(data), shape_(shape) {
    for (index_t i = 0; i < rank; ++i) strides_[i] = strides[i];
    index_t reach = 0;
    for (index_t i = 0; i < rank; ++i) {
      if (!add_reach(reach, size(i), strides[i])) fail_strides();
    }
  }

  /// The same elements with the same axis names. Implicit where nothing is left to check (to const,
  /// from static to dynamic sizes); explicit from dynamic to static, and then checked: ShapeError.
  template <class U, AxisType... Bs>
    requires(std::is_convertible_v<U (*)[], T (*)[]> && axes_agree<Axes<Bs...>, Axes<As...>>)
  constexpr explicit(!axes_convert<Axes<Bs...>, Axes<As...>>) View(const View<U, Bs...>& other)
      : data_(other.data()), shape_(checked_shape(other.shape())) {
    for (index_t i = 0; i < rank; ++i) strides_[i] = other.stride(i);
  }

  /// The first element, the sizes, and the distances between neighbours in elements.
  constexpr T* data() const { return data_; }
  constexpr const shape_type& shape() const { return shape_; }
  constexpr index_t size(index_t i) const { return shape_.size(i); }
  constexpr index_t stride(index_t i) const { return strides_[i]; }
  constexpr const index_t* strides() const { return strides_; }
  constexpr index_t count() const { return shape_.count(); }
  constexpr View view() const { return *this; }

  /// The element at one position an axis; positions are not checked.
  template <class... Is>
    requires(sizeof...(Is) == sizeof...(As))
  constexpr T& operator()(Is... position) const {
    const index_t at[rank + 1] = {static_cast<index_t>(position)..., 0};
    index_t offset = 0;
    for (index_t i = 0; i < rank; ++i) offset += at[i] * strides_[i];
    return data_[offset];
  }

  /// The same, checked: ShapeError names the axis and the position.
  template <class... Is>
    requires(sizeof...(Is) == sizeof...(As))
  constexpr T& at(Is... position) const {
    const index_t place[rank + 1] = {static_cast<index_t>(position)..., 0};
    for (index_t i = 0; i < rank; ++i) {
      if (place[i] < 0 || place[i] >= size(i)) {
        const index_t sizes[] = {shape_.size(i), place[i]};
        const char* names[] = {shape_type::names()[i], "position"};
        fail<ShapeError>("at: the position lies outside its axis", {"", names, sizes, 2});
      }
    }
    return (*this)(position...);
  }

  /// Whether the elements lie in row-major order without gaps.
  constexpr bool is_contiguous() const {
    index_t step = 1;
    for (index_t i = rank - 1; i >= 0; --i) {
      if (size(i) != 1 && strides_[i] != step) return false;
      step *= size(i);
    }
    return true;
  }

 private:
  /// Adds to `reach` the bytes that an axis spans. A size of 0 counts as 1: then no stride can
  /// overflow when axes are cut or joined.
  static constexpr bool add_reach(index_t& reach, index_t size, index_t stride) {
    index_t span = 0;
    if (stride < -(std::numeric_limits<index_t>::max)()) return false;
    return multiply_fits(greater(size, 1), stride < 0 ? -stride : stride, span) &&
           multiply_fits(span, index_t{sizeof(T)}, span) && add_fits(reach, span, reach);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_strides() const {
    index_t sizes[rank + 1] = {};
    shape_.copy_sizes(sizes);
    fail<ShapeError>("view: its strides lead further than can be counted",
                     {"x", shape_.names(), sizes, rank},
                     {"strides", shape_.names(), strides_, rank});
  }

  template <class Other>
  static constexpr shape_type checked_shape(const Other& other) {
    index_t sizes[rank + 1] = {};
    other.copy_sizes(sizes);
    return shape_type::from_sizes(sizes);
  }

  T* data_;
  shape_type shape_;
  index_t strides_[rank + 1] = {};
};

namespace view_detail {

template <class T, class List>
struct ViewOf;
template <class T, class... As>
struct ViewOf<T, Axes<As...>> {
  using type = View<T, As...>;
};

}  // namespace view_detail

/// View<T, As...> for the list Axes<As...>.
template <class T, class List>
using view_of = typename view_detail::ViewOf<T, List>::type;

}  // namespace imbrex::inline IMBREX_ABI
