// Shapes: a list of axes of which only the sizes unknown to the compiler are stored.
#pragma once

#include "imbrex/tensor/axis_list.hpp"
#include "imbrex/tensor/shape_ref.hpp"

namespace imbrex {

namespace shape_detail {

/// Room for the dynamic sizes; none where there are none.
template <index_t Count>
struct Sizes {
  index_t size[Count];
};
template <>
struct Sizes<0> {};

/// Arrays of at least one element: a shape without axes is a scalar.
template <class... As>
struct Names {
  static constexpr const char* value[sizeof...(As) + 1] = {As::name..., ""};
};

}  // namespace shape_detail

namespace shape_detail::inline IMBREX_ABI {

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_size(const char* axis, index_t expected,
                                                             index_t got) {
  const std::string want = expected == dyn ? "0 or more" : std::to_string(expected);
  raise(ShapeError(std::string("axis ") + axis + ": expected size " + want + ", got " +
                   std::to_string(got)));
}

}  // namespace shape_detail::inline IMBREX_ABI

inline namespace IMBREX_ABI {

/// An axis of type A with `size`. Throws ShapeError when A has another size, or size is negative.
template <AxisType A>
constexpr A make_axis(index_t size) {
  if constexpr (A::static_size == dyn) {
    if (size < 0) shape_detail::fail_size(A::name, dyn, size);
    return A(size);
  } else {
    if (size != A::static_size) shape_detail::fail_size(A::name, A::static_size, size);
    return A();
  }
}

/// The sizes of the axes `As...`, outermost first. Axes differ in name; sizes of zero are legal.
template <AxisType... As>
class Shape {
  static_assert(names_differ<Axes<As...>>, "no axis name may stand twice in a shape");

 public:
  /// What the type knows: the axes, how many there are, how many of them have no static size, and
  /// the sizes, `dyn` where there is none.
  using axes = Axes<As...>;
  static constexpr index_t rank = sizeof...(As);
  static constexpr index_t dynamic_rank = (index_t{0} + ... + (As::static_size == dyn ? 1 : 0));
  static constexpr index_t static_sizes[sizeof...(As) + 1] = {As::static_size..., 0};

  /// From one value an axis: Shape<Batch<>, Model<512>>(Batch<>(2), Model<512>()). Throws
  /// ShapeError when a size is negative or the number of elements does not fit index_t.
  constexpr explicit Shape(As... sized)
    requires(sizeof...(As) > 0)
  {
    const index_t sizes[] = {sized.size()...};
    assign(sizes);
  }

  constexpr Shape()
    requires(dynamic_rank == 0)
  {
    assign(static_sizes);
  }

  /// From `rank` sizes; those the compiler knows must be equal. Throws ShapeError otherwise.
  static constexpr Shape from_sizes(const index_t* sizes) {
    Shape shape{Unchecked{}};
    shape.assign(sizes);
    return shape;
  }

  /// The size of axis `i`, 0 <= i < rank.
  constexpr index_t size(index_t i) const {
    if (static_sizes[i] != dyn) return static_sizes[i];
    index_t stored = 0;
    for (index_t j = 0; j < i; ++j) stored += static_sizes[j] == dyn ? 1 : 0;
    if constexpr (dynamic_rank > 0) return dynamic_.size[stored];
    return 0;
  }

  /// How many elements; 1 for a shape without axes.
  constexpr index_t count() const {
    index_t product = 1;
    for (index_t i = 0; i < rank; ++i) product *= size(i);
    return product;
  }

  /// Writes all sizes to `sizes`, `rank` of them.
  constexpr void copy_sizes(index_t* sizes) const {
    for (index_t i = 0; i < rank; ++i) sizes[i] = size(i);
  }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    for (index_t i = 0; i < rank; ++i) {
      if (a.size(i) != b.size(i)) return false;
    }
    return true;
  }

  /// The names of the axes, `rank` of them.
  static constexpr const char* const* names() { return shape_detail::Names<As...>::value; }

 private:
  struct Unchecked {};
  constexpr explicit Shape(Unchecked) {}

  // A size of 0 counts as 1 here: then no stride and no partial product can overflow either.
  constexpr void assign(const index_t* sizes) {
    index_t stored = 0, product = 1;
    bool fits = true;
    for (index_t i = 0; i < rank; ++i) {
      const bool wrong = static_sizes[i] == dyn ? sizes[i] < 0 : sizes[i] != static_sizes[i];
      if (wrong) shape_detail::fail_size(names()[i], static_sizes[i], sizes[i]);
      if constexpr (dynamic_rank > 0) {
        if (static_sizes[i] == dyn) dynamic_.size[stored++] = sizes[i];
      }
      fits = fits && multiply_fits(product, greater(sizes[i], 1), product);
    }
    if (!fits) {
      fail<ShapeError>("the number of elements does not fit 63 bits", {"", names(), sizes, rank});
    }
  }

  [[no_unique_address]] shape_detail::Sizes<dynamic_rank> dynamic_{};
};

}  // namespace IMBREX_ABI

namespace shape_detail {

template <class List>
struct ShapeOf;
template <class... As>
struct ShapeOf<Axes<As...>> {
  using type = Shape<As...>;
};

}  // namespace shape_detail

/// Shape<As...> for the list Axes<As...>.
template <class List>
using shape_of = typename shape_detail::ShapeOf<List>::type;

}  // namespace imbrex
