// Tensors and views as matrices of Eigen's, and Eigen's objects as views. Neither way copies an
// element: both see the same memory, and are valid while its owner is.
//
// Sizes of Eigen's types are dynamic, also where the compiler knows them: it would put results of a
// static size on the stack, refuse large ones, and compile its loops once for each size.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <type_traits>
#include <utility>

#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::eigen_detail::inline IMBREX_ABI {

template <class T>
using Plain = std::remove_const_t<T>;

/// const where T is.
template <class T, class Object>
using ConstAs = std::conditional_t<std::is_const_v<T>, const Object, Object>;

template <class T>
using RowMajorMatrix =
    ConstAs<T, Eigen::Matrix<Plain<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using ColumnVector = ConstAs<T, Eigen::Matrix<Plain<T>, Eigen::Dynamic, 1>>;

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class... As>
inline constexpr bool is_tensor<Tensor<T, As...>> = true;

template <class X>
using Element = std::remove_pointer_t<decltype(std::declval<X&>().view().data())>;

/// The axis type A with the size N.
template <class A, index_t N>
struct Resized;
template <template <index_t> class A, index_t M, index_t N>
struct Resized<A<M>, N> {
  using type = A<N>;
};

/// The axes of a list with the sizes that M's type has; the list where their numbers differ.
template <class M, class List>
struct SizedLike {
  using type = List;
};
template <class M, class A>
  requires(static_cast<bool>(M::IsVectorAtCompileTime))
struct SizedLike<M, Axes<A>> {
  using type = Axes<typename Resized<A, index_t{M::SizeAtCompileTime}>::type>;
};
template <class M, class A, class B>
struct SizedLike<M, Axes<A, B>> {
  using type = Axes<typename Resized<A, index_t{M::RowsAtCompileTime}>::type,
                    typename Resized<B, index_t{M::ColsAtCompileTime}>::type>;
};

/// Whether Eigen's object lies in memory (an expression does not), and whether it owns that memory.
template <class M>
inline constexpr bool has_memory = (int{M::Flags} & Eigen::DirectAccessBit) != 0;
template <class M>
inline constexpr bool owns_memory = std::is_base_of_v<Eigen::PlainObjectBase<M>, M>;
template <class M, int Options, class Stride>
inline constexpr bool owns_memory<Eigen::Ref<const M, Options, Stride>> = true;  // a copy, at times

}  // namespace imbrex::eigen_detail::inline IMBREX_ABI

namespace imbrex::eigen_detail::inline IMBREX_ABI {

/// Eigen counts in std::ptrdiff_t. Throws CapacityError where that is shorter and does not do.
inline Eigen::Index eigen_index(index_t n) {
  if constexpr (sizeof(Eigen::Index) < sizeof(index_t)) {
    using Limits = std::numeric_limits<Eigen::Index>;
    if (n < (Limits::min)() || n > (Limits::max)()) {
      raise(CapacityError("as_eigen(x): a size or stride of " + std::to_string(n) +
                          " does not fit Eigen's index"));
    }
  }
  return static_cast<Eigen::Index>(n);
}

/// Throws ShapeError where the axes before the last do not step evenly: they are no rows.
template <class T>
void check_rows(const Operand<T>& x) {
  const index_t lead = x.rank - 1;
  if (x.rank > 2 && x.count(0, x.rank) > 0 && !x.is_even(0, lead, x.step(0, lead))) {
    fail<ShapeError>("as_eigen(x): the axes before the last must lie evenly, as rows of a matrix",
                     x.ref("x"), x.strides_ref());
  }
}

}  // namespace imbrex::eigen_detail::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// x as an Eigen::Map. One axis is a column vector; more are a row-major matrix, the last axis its
/// columns and those before it, merged, its rows. Const where x's elements are. A tensor's map has
/// no strides, so that Eigen computes with vector instructions; a view's has x's strides, which
/// only run time knows. Throws ShapeError where the axes before the last lie in such a way that
/// merging them takes a copy.
template <TensorLike X>
auto as_eigen(X&& x) {
  using T = eigen_detail::Element<std::remove_reference_t<X>>;
  constexpr index_t rank = list_size<axes_of<X>>;
  static_assert(outlives_the_call<X>,
                "as_eigen(x): x must be a variable or a view, not a temporary");
  static_assert(rank > 0, "as_eigen(x): x must have an axis");
  constexpr bool tensor = eigen_detail::is_tensor<std::remove_cvref_t<X>>;
  using Dynamic = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const auto operand = Operand<T>::of(x);
  if constexpr (rank <= 1) {
    const Eigen::Index size = eigen_detail::eigen_index(operand.count(0, rank));
    if constexpr (tensor) {
      return Eigen::Map<eigen_detail::ColumnVector<T>>(operand.data, size);
    } else {
      using Stride = Eigen::InnerStride<>;
      return Eigen::Map<eigen_detail::ColumnVector<T>, Eigen::Unaligned, Stride>(
          operand.data, size, Stride(eigen_detail::eigen_index(operand.strides[0])));
    }
  } else {
    eigen_detail::check_rows(operand);
    const Eigen::Index rows = eigen_detail::eigen_index(operand.count(0, rank - 1)),
                       cols = eigen_detail::eigen_index(operand.sizes[rank - 1]);
    if constexpr (tensor) {
      return Eigen::Map<eigen_detail::RowMajorMatrix<T>>(operand.data, rows, cols);
    } else {
      const Dynamic strides(eigen_detail::eigen_index(operand.step(0, rank - 1)),
                            eigen_detail::eigen_index(operand.strides[rank - 1]));
      return Eigen::Map<eigen_detail::RowMajorMatrix<T>, Eigen::Unaligned, Dynamic>(
          operand.data, rows, cols, strides);
    }
  }
}

/// An object of Eigen's that lies in memory (a Matrix, an Array, a Map, a Ref, a block of one) as a
/// view: as_view<Time<>, Model<512>>(m) has m's rows and columns, as_view<Model<>>(v) a vector's
/// coefficients, in either storage order. Const where m's elements are. Throws ShapeError where a
/// static size is not m's.
template <AxisType... As, class M>
auto as_view(M&& m) {
  using Object = std::remove_cvref_t<M>;
  using Sized = typename eigen_detail::SizedLike<Object, Axes<As...>>::type;
  constexpr bool in_memory = eigen_detail::has_memory<Object>;
  constexpr bool fits = sizeof...(As) == 2 ||
                        (sizeof...(As) == 1 && static_cast<bool>(Object::IsVectorAtCompileTime));
  static_assert(std::is_lvalue_reference_v<M> || !eigen_detail::owns_memory<Object>,
                "as_view<A...>(m): m must be a variable, not a temporary");
  static_assert(in_memory, "as_view<A...>(m): m must lie in memory, and not be an expression");
  static_assert(fits, "as_view<A...>(m): one axis for a vector, two for a matrix");
  static_assert(axes_agree<Axes<As...>, Sized>, "as_view<A...>(m): the axes must have m's sizes");
  if constexpr (in_memory && fits && axes_agree<Axes<As...>, Sized>) {
    using T = std::remove_pointer_t<decltype(m.data())>;
    index_t sizes[] = {m.rows(), m.cols()}, strides[] = {m.rowStride(), m.colStride()};
    if constexpr (sizeof...(As) == 1) {
      sizes[0] = m.size();
      strides[0] = m.innerStride();
    }
    return View<T, As...>(m.data(), Shape<As...>::from_sizes(sizes), strides);
  } else {
    constexpr index_t none[sizeof...(As) + 1] = {};
    return View<const typename Object::Scalar, As...>(nullptr, Shape<As...>::from_sizes(none));
  }
}

/// The same with the sizes said: as_view(m, Time<>(16), Model<512>()). Throws ShapeError where they
/// are not m's.
template <class M, AxisType... As>
  requires(sizeof...(As) > 0)
auto as_view(M&& m, As... axes_of_m) {
  const auto view = as_view<As...>(std::forward<M>(m));
  const Shape<As...> shape(axes_of_m...);
  if (!(shape == view.shape())) {
    index_t expected[sizeof...(As)] = {}, got[sizeof...(As)] = {};
    shape.copy_sizes(expected);
    view.shape().copy_sizes(got);
    const ShapeRef axes_ref{"axes", shape.names(), expected, shape.rank};
    fail<ShapeError>("as_view(m, axes...): the axes must have m's sizes",
                     {"m", shape.names(), got, shape.rank}, axes_ref);
  }
  return view;
}

}  // namespace imbrex::inline IMBREX_ABI
