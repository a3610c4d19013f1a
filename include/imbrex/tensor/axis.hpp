// Axes: every dimension has a name and a size, the size known to the compiler or at run time.
#pragma once

#include "imbrex/base/index.hpp"

namespace imbrex {

/// The size of an axis, known to the compiler.
template <index_t N = dyn>
struct Axis {
  static_assert(N >= 0, "the size of an axis is 0 or more, or dyn");
  static constexpr index_t static_size = N;

  /// The size.
  static constexpr index_t size() { return N; }
};

/// The size of an axis, known at run time.
template <>
struct Axis<dyn> {
  static constexpr index_t static_size = dyn;

  /// The size, 0 or more: whoever makes a shape of it checks that.
  constexpr explicit Axis(index_t size) : size_(size) {}
  constexpr index_t size() const { return size_; }

 private:
  index_t size_;
};

/// The axes of a decoder. The names are those of the papers; the letters are used in all comments:
/// B batch, T time, D model, H heads, K kv heads, d head_dim, F hidden, V vocab. Another axis is
/// one more such line, anywhere.
inline namespace axes {

// clang-format off
/// B: sequences.
template <index_t N = dyn> struct Batch : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Batch"; };
/// T: positions of the tokens that are looked at now (queries).
template <index_t N = dyn> struct Time : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Time"; };
/// Positions that can be attended to (keys and values).
template <index_t N = dyn> struct Keys : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Keys"; };
/// D: the width of the residual stream.
template <index_t N = dyn> struct Model : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Model"; };
/// H: query heads.
template <index_t N = dyn> struct Heads : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Heads"; };
/// K: key and value heads, each shared by H / K query heads.
template <index_t N = dyn> struct KvHeads : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "KvHeads"; };
/// d: the width of a head.
template <index_t N = dyn> struct HeadDim : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "HeadDim"; };
/// F: the width of the feed-forward layer.
template <index_t N = dyn> struct Hidden : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Hidden"; };
/// V: tokens of the vocabulary.
template <index_t N = dyn> struct Vocab : Axis<N> { using Axis<N>::Axis; static constexpr const char* name = "Vocab"; };
// clang-format on

}  // namespace axes

/// A list of axes, as a type.
template <class... As>
struct Axes {};

namespace axis_detail {

template <class A>
constexpr bool is_axis = false;
template <template <index_t> class A, index_t N>
constexpr bool is_axis<A<N>> = requires {
  A<N>::name;
  A<N>::static_size;
};

template <class A, class B>
constexpr bool same_name = false;
template <template <index_t> class A, index_t N, index_t M>
constexpr bool same_name<A<N>, A<M>> = true;

template <template <index_t> class A, class B>
constexpr bool is_named = false;
template <template <index_t> class A, index_t N>
constexpr bool is_named<A, A<N>> = true;

}  // namespace axis_detail

/// A type with a name and a size: `Model<512>`, `Time<>`.
template <class A>
concept AxisType = axis_detail::is_axis<A>;

/// Whether two axes have the same name, whatever their sizes.
template <class A, class B>
inline constexpr bool same_name = axis_detail::same_name<A, B>;

/// Whether the axis type B is the axis template A: named<Time, Time<16>>.
template <template <index_t> class A, class B>
inline constexpr bool named = axis_detail::is_named<A, B>;

}  // namespace imbrex
