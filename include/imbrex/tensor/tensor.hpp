// Tensors: elements of their own, in row-major order, with named axes.
#pragma once

#include <initializer_list>

#include "imbrex/tensor/buffer.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Owns a T for each position of a shape: contiguous, row-major, 64-byte aligned. Copying copies
/// the elements. Moving takes them along: what is left keeps its shape, and whoever asks for its
/// elements (`at`, a view, a layer) gets a ShapeError until it is assigned to.
template <class T, AxisType... As>
class Tensor {
 public:
  using element_type = T;
  using axes = Axes<As...>;
  using shape_type = Shape<As...>;
  using view_type = View<T, As...>;
  using const_view_type = View<const T, As...>;
  static constexpr index_t rank = sizeof...(As);

  /// All zeros. Throws CapacityError where there is no memory.
  explicit Tensor(const shape_type& shape) : shape_(shape), buffer_(shape.count()) {}
  explicit Tensor(As... axes_of)
    requires(sizeof...(As) > 0)
      : Tensor(shape_type(axes_of...)) {}

  /// The elements in row-major order. Throws ShapeError when their number is not the shape's.
  Tensor(const shape_type& shape, std::initializer_list<T> elements) : Tensor(shape) {
    if (static_cast<index_t>(elements.size()) != shape.count()) {
      const index_t sizes[] = {shape.count(), static_cast<index_t>(elements.size())};
      const char* names[] = {"expected", "got"};
      fail<ShapeError>("tensor: as many elements as the shape has", {"", names, sizes, 2});
    }
    T* to = buffer_.data();
    for (const T& element : elements) *to++ = element;
  }

  /// Moves and copies, see above.
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;
  Tensor(const Tensor& other) : shape_(other.shape_), buffer_(other.buffer_.clone()) {}
  Tensor& operator=(const Tensor& other) {
    if (this != &other) *this = Tensor(other);
    return *this;
  }
  ~Tensor() = default;

  /// The elements, the sizes, and a view of all elements. `view` throws ShapeError where they were
  /// moved away.
  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  const shape_type& shape() const { return shape_; }
  index_t size(index_t i) const { return shape_.size(i); }
  index_t count() const { return buffer_.size(); }
  view_type view() {
    check_elements();
    return {data(), shape_};
  }
  const_view_type view() const {
    check_elements();
    return {data(), shape_};
  }

  /// A tensor converts to what its views convert to.
  template <class U, AxisType... Bs>
    requires std::is_convertible_v<view_type, View<U, Bs...>>
  operator View<U, Bs...>() {
    return view();
  }
  template <class U, AxisType... Bs>
    requires std::is_convertible_v<const_view_type, View<U, Bs...>>
  operator View<U, Bs...>() const {
    return view();
  }

  /// The element at one position an axis; neither positions nor that there are elements is checked
  /// (`at` checks both): a loop over them costs what it would over the bare array.
  template <class... Is>
    requires(sizeof...(Is) == sizeof...(As))
  T& operator()(Is... position) {
    return data()[offset(position...)];
  }
  template <class... Is>
    requires(sizeof...(Is) == sizeof...(As))
  const T& operator()(Is... position) const {
    return data()[offset(position...)];
  }
  template <class... Is>
  T& at(Is... position) {
    return view().at(position...);
  }
  template <class... Is>
  const T& at(Is... position) const {
    return view().at(position...);
  }

 private:
  /// Row-major: ((i0 size1 + i1) size2 + i2) ... A fold, which compilers see through where an array
  /// of positions keeps them from vectorising the caller's loop.
  template <class... Is>
  index_t offset(Is... position) const {
    index_t result = 0, i = 0;
    ((result = result * size(i++) + static_cast<index_t>(position)), ...);
    return result;
  }
  void check_elements() const {
    if (data() == nullptr && shape_.count() > 0) fail_moved();
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_moved() const {
    index_t sizes[rank + 1] = {};
    shape_.copy_sizes(sizes);
    fail<ShapeError>("tensor: its elements were moved away", {"", shape_.names(), sizes, rank});
  }

  shape_type shape_;
  Buffer<T> buffer_;
};

/// A tensor of zeros: zeros<float>(Batch<>(2), Time<>(16), Model<512>()).
template <class T, AxisType... As>
Tensor<T, As...> zeros(As... axes_of) {
  return Tensor<T, As...>(axes_of...);
}

/// A tensor with `value` everywhere.
template <class T, AxisType... As>
Tensor<T, As...> full(T value, As... axes_of) {
  Tensor<T, As...> tensor(axes_of...);
  for (index_t i = 0; i < tensor.count(); ++i) tensor.data()[i] = value;
  return tensor;
}

namespace tensor_detail {

template <class T, class List>
struct TensorOf;
template <class T, class... As>
struct TensorOf<T, Axes<As...>> {
  using type = Tensor<T, As...>;
};

}  // namespace tensor_detail

/// Tensor<T, As...> for the list Axes<As...>.
template <class T, class List>
using tensor_of = typename tensor_detail::TensorOf<T, List>::type;

}  // namespace imbrex::inline IMBREX_ABI
