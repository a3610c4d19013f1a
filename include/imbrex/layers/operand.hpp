// Activations on their way from typed shapes to kernels: the axes erased, what kernels need kept.
#pragma once

#include "imbrex/kernels/operands.hpp"
#include "imbrex/tensor/buffer.hpp"
#include "imbrex/tensor/tensor_like.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A view of floats (T is `float` or `const float`) without its type.
template <class T>
struct Operand {
  static constexpr index_t max_rank = 8;

  /// Where the elements are, and the names, sizes and strides of `rank` axes.
  T* data;
  const char* const* names;
  index_t rank;
  index_t sizes[max_rank];
  index_t strides[max_rank];

  /// The operand of a tensor or view. Throws ShapeError for elements at a null pointer.
  template <TensorLike X>
  static Operand of(X& x) {
    constexpr index_t rank_of_x = list_size<axes_of<X>>;
    static_assert(rank_of_x <= max_rank, "layers take activations of at most eight axes");
    const auto v = x.view();
    constexpr bool floats = std::is_convertible_v<decltype(v.data()), T*>;
    static_assert(floats, "layers take activations of float");
    Operand operand{nullptr, v.shape().names(), rank_of_x, {}, {}};
    if constexpr (floats) operand.data = v.data();
    v.shape().copy_sizes(operand.sizes);
    for (index_t i = 0; i < rank_of_x; ++i) operand.strides[i] = v.stride(i);
    if (operand.data == nullptr) operand.check_empty();
    return operand;
  }

  /// The sizes, and the strides, as errors print them.
  ShapeRef ref(const char* name) const { return {name, names, sizes, rank}; }
  ShapeRef strides_ref() const { return {"strides", names, strides, rank}; }

  /// The number of elements of axes [from, to).
  index_t count(index_t from, index_t to) const {
    index_t product = 1;
    for (index_t i = from; i < to; ++i) product *= sizes[i];
    return product;
  }

  /// Whether axes [from, to) step evenly, as one axis of stride `step` would: false for views that
  /// must be copied first.
  bool is_even(index_t from, index_t to, index_t step) const {
    for (index_t i = to - 1; i >= from; --i) {
      if (sizes[i] != 1 && strides[i] != step) return false;
      step *= sizes[i];
    }
    return true;
  }

  /// The stride of axes [from, to) as one: that of the innermost axis longer than one.
  index_t step(index_t from, index_t to) const {
    for (index_t i = to - 1; i >= from; --i) {
      if (sizes[i] != 1) return strides[i];
    }
    return count(to, rank);
  }

  /// Whether the last `tail` axes are contiguous rows, evenly spaced over the axes before them.
  bool is_rows(index_t tail) const {
    return count(0, rank) == 0 ||
           (is_even(rank - tail, rank, 1) && is_even(0, rank - tail, step(0, rank - tail)));
  }

  /// Throws ShapeError where neighbours along the last axis are not neighbours in memory: kernels
  /// take rows whose elements are.
  void check_dense() const {
    if (!is_even(rank - 1, rank, 1) && count(0, rank) > 0) {
      fail<ShapeError>("the elements along the last axis must lie next to each other", ref("x"),
                       strides_ref());
    }
  }

 private:
  void check_empty() const {
    if (count(0, rank) > 0) {
      fail<ShapeError>("layers take activations that have elements; here is a null pointer",
                       ref("x"));
    }
  }
};

/// What a layer reads, and what it writes.
using ConstOperand = Operand<const float>;
using MutableOperand = Operand<float>;

/// Throws ShapeError: "blk.17.ffn_gate: sentence: x[...], weight[...]". The path may be empty.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_layer(const std::string& path,
                                                              const char* sentence,
                                                              const ShapeRef& x,
                                                              const ShapeRef& w) {
  const std::string text = path.empty() ? sentence : path + ": " + sentence;
  fail<ShapeError>(text.c_str(), x, w);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_layer(const std::string& path,
                                                              const char* sentence,
                                                              const ShapeRef& w) {
  const std::string text = path.empty() ? sentence : path + ": " + sentence;
  fail<ShapeError>(text.c_str(), w);
}

/// The operand as rows of its last `tail` axes; copied first where the view is not that already.
class RowsOperand {
 public:
  RowsOperand(const ConstOperand& x, index_t tail) {
    const index_t rows = x.count(0, x.rank - tail), cols = x.count(x.rank - tail, x.rank);
    if (x.is_rows(tail)) {
      rows_ = {x.data, rows, cols, x.step(0, x.rank - tail)};
      return;
    }
    packed_ = Buffer<float>(rows * cols);
    float* to = packed_.data();
    copy_axis(x, 0, x.data, to);
    rows_ = {packed_.data(), rows, cols, cols};
  }

  /// The rows: x's own, or the copy's.
  const kernels::ConstRows& rows() const { return rows_; }

 private:
  static void copy_axis(const ConstOperand& x, index_t axis, const float* from, float*& to) {
    if (axis == x.rank) {
      *to++ = *from;
      return;
    }
    for (index_t i = 0; i < x.sizes[axis]; ++i) {
      copy_axis(x, axis + 1, from + i * x.strides[axis], to);
    }
  }

  kernels::ConstRows rows_;
  Buffer<float> packed_;
};

/// Where a layer writes: evenly spaced rows of the last `tail` axes. Throws ShapeError otherwise.
inline kernels::Rows rows_into(const MutableOperand& y, index_t tail, const std::string& path) {
  if (!y.is_rows(tail)) {
    fail_layer(path, "into(y, x): y must lie in evenly spaced rows", y.ref("y"), y.strides_ref());
  }
  const kernels::Rows rows{y.data, y.count(0, y.rank - tail), y.count(y.rank - tail, y.rank),
                           y.step(0, y.rank - tail)};
  if (rows.rows > 1 && rows.stride < rows.cols && rows.stride > -rows.cols) {
    fail_layer(path, "into(y, x): the rows of y must not overlap", y.ref("y"), y.strides_ref());
  }
  return rows;
}

namespace operand_detail {

template <class A>
struct List {
  using type = Axes<A>;
};
template <class... As>
struct List<Axes<As...>> {
  using type = Axes<As...>;
};

/// The last axes of X, as many as the pattern has: an axis for an axis, a list for a list.
template <class X, class Pattern>
struct Tail {
  static constexpr index_t size = list_size<axes_of<X>>;
  using type = axis_at<size - 1, axes_of<X>>;
};
template <class X, class A>
  requires(list_size<axes_of<X>> == 0)
struct Tail<X, A> {
  using type = Axes<>;
};
template <class From, index_t Count>
struct LastOf {
  using type = From;
};
template <class A, class... As, index_t Count>
  requires(index_t{sizeof...(As)} + 1 > Count)
struct LastOf<Axes<A, As...>, Count> : LastOf<Axes<As...>, Count> {};
template <class X, class... Ps>
  requires(list_size<axes_of<X>> > 0)
struct Tail<X, Axes<Ps...>> : LastOf<axes_of<X>, sizeof...(Ps)> {};

}  // namespace operand_detail

/// Axes<A> for an axis A, the list itself for a list.
template <class A>
using list_of = typename operand_detail::List<A>::type;

/// The last axes of X, in the form of `Pattern` (an axis or a list): what a layer asserts on.
template <class X, class Pattern>
using tail_of = typename operand_detail::Tail<X, Pattern>::type;

/// The axes before the last, as many as `In` has, and then `Out`; `Out` alone where X does not end
/// with `In`: what a layer asserts the names of.
template <class X, class In, class Out>
using joined_axes =
    std::conditional_t<axes_end_with<axes_of<X>, list_of<In>>,
                       replace_tail<X, list_size<list_of<In>>, list_of<Out>>, list_of<Out>>;

/// The axes of X with as many of the last as `In` has replaced by `Out`: what a layer returns.
/// Where X was wrong in a way that would make a second error of this, `Out` alone.
template <class X, class In, class Out>
using mapped_axes =
    std::conditional_t<names_differ<replace_tail<X, list_size<list_of<In>>, list_of<Out>>>,
                       replace_tail<X, list_size<list_of<In>>, list_of<Out>>, list_of<Out>>;

/// The shape that a layer's result has at run time: the leading sizes of x, then `tail`.
template <class List, class Tail>
shape_of<List> mapped_shape(const ConstOperand& x, const Tail& tail) {
  index_t sizes[list_size<List> + 1] = {};
  constexpr index_t lead = list_size<List> - Tail::rank;
  for (index_t i = 0; i < lead && i < x.rank; ++i) sizes[i] = x.sizes[i];
  for (index_t i = 0; i < Tail::rank; ++i) sizes[lead + i] = tail.size(i);
  return shape_of<List>::from_sizes(sizes);
}

/// Throws ShapeError where the last axes of x are not of these sizes.
template <class T>
void check_tail(const Operand<T>& x, const index_t* sizes, index_t tail, const std::string& path,
                const char* sentence, const ShapeRef& w) {
  for (index_t i = 0; i < tail; ++i) {
    if (x.sizes[x.rank - tail + i] != sizes[i]) fail_layer(path, sentence, x.ref("x"), w);
  }
}

/// Throws ShapeError where y has not x's leading sizes.
inline void check_lead(const ConstOperand& x, const MutableOperand& y, index_t lead,
                       const std::string& path) {
  for (index_t i = 0; i < lead; ++i) {
    if (x.sizes[i] != y.sizes[i]) {
      fail_layer(path, "into(y, x): the leading axes of y must be those of x", y.ref("y"),
                 x.ref("x"));
    }
  }
}

/// Rows as [Time, A]: how composite layers, whose bodies are no templates, see any x.
template <class A>
View<const float, Time<>, A> as_time(const kernels::ConstRows& rows) {
  const index_t sizes[] = {rows.rows, rows.cols}, strides[] = {rows.stride, 1};
  return {rows.data, Shape<Time<>, A>::from_sizes(sizes), strides};
}
template <class A>
View<float, Time<>, A> as_time(const kernels::Rows& rows) {
  const index_t sizes[] = {rows.rows, rows.cols}, strides[] = {rows.stride, 1};
  return {rows.data, Shape<Time<>, A>::from_sizes(sizes), strides};
}

/// An operand [Time, A] as a view of the layer's own axes. Throws ShapeError where a size that the
/// compiler knows is another.
template <class A, class T>
View<T, Time<>, A> as_time(const Operand<T>& x) {
  return {x.data, Shape<Time<>, A>::from_sizes(x.sizes), x.strides};
}

/// The other way: an operand [Time, A] as kernels take it. Throws ShapeError where the elements of
/// a row do not lie next to each other.
template <class T>
auto as_rows(const Operand<T>& x) {
  using R = std::conditional_t<std::is_const_v<T>, kernels::ConstRows, kernels::Rows>;
  x.check_dense();
  return R{x.data, x.sizes[0], x.sizes[1], x.strides[0]};
}
template <class T, class A>
auto as_rows(const View<T, Time<>, A>& x) {
  return as_rows(Operand<T>::of(x));
}

/// An operand [Time, A, B] as kernels take rows of heads. Throws ShapeError where the elements of a
/// head do not lie next to each other.
template <class T>
auto as_heads(const Operand<T>& x) {
  using R = std::conditional_t<std::is_const_v<T>, kernels::ConstHeads, kernels::Heads>;
  x.check_dense();
  return R{x.data, x.sizes[0], x.sizes[1], x.sizes[2], x.strides[0], x.strides[1]};
}
template <class T, class A, class B>
auto as_heads(const View<T, Time<>, A, B>& x) {
  return as_heads(Operand<T>::of(x));
}

}  // namespace imbrex::inline IMBREX_ABI
