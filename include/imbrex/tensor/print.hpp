// Shapes and values as text, in the notation of the error messages.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>

#include "imbrex/tensor/tensor_like.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The shape of a tensor or view: "x[Batch=2, Time=16, Model=512]".
template <TensorLike X>
std::string shape_text(const X& x, const char* operand = "") {
  constexpr index_t rank = list_size<axes_of<X>>;
  index_t sizes[rank + 1] = {};
  const auto v = x.view();
  v.shape().copy_sizes(sizes);
  return to_string(ShapeRef{operand, v.shape().names(), sizes, rank});
}

/// How much of a tensor is printed.
struct PrintOptions {
  int decimals = 4;  ///< of floats
  index_t edge = 4;  ///< first and last elements shown of an axis longer than twice this
};

namespace print_detail {

inline std::string number(double value, int decimals) {
  char text[400];  // the greatest double has 309 digits before the point
  std::snprintf(text, sizeof text, "%*.*f", decimals + 5, decimals, value);
  return text;
}

/// Room for six digits: token ids lie in columns.
inline std::string number(std::string digits) {
  return digits.insert(0, digits.size() < 6 ? 6 - digits.size() : 0, ' ');
}

/// Appends the elements below axis `axis`; rows on lines of their own, indented by depth. (`+` of
/// strings would do, but g++ 12 warns of it: -Wrestrict.)
template <class T>
void append_elements(std::string& text, const T* data, const index_t* sizes, const index_t* strides,
                     index_t rank, index_t axis, const PrintOptions& options) {
  if (axis == rank) {
    if constexpr (std::is_integral_v<T>) {
      text += number(std::to_string(*data));
    } else {
      text += number(static_cast<double>(*data), options.decimals);
    }
    return;
  }
  const bool innermost = axis + 1 == rank;
  const auto separate = [&] {
    text += innermost ? ' ' : '\n';
    if (!innermost) text.append(static_cast<std::size_t>(axis + 1), ' ');
  };
  text += '[';
  for (index_t i = 0; i < sizes[axis]; ++i) {
    if (i > 0) separate();
    if (i == options.edge && sizes[axis] > 2 * options.edge) {
      text += "...";
      if (options.edge == 0) break;
      separate();
      i = sizes[axis] - options.edge;
    }
    append_elements(text, data + i * strides[axis], sizes, strides, rank, axis + 1, options);
  }
  text += ']';
}

}  // namespace print_detail

/// The shape, then the values, of floats or integers: aligned, long axes cut in the middle.
template <TensorLike X>
std::string to_string(const X& x, const char* operand = "", const PrintOptions& options = {}) {
  constexpr bool numbers = std::is_arithmetic_v<typename X::element_type>;
  static_assert(numbers, "to_string(x): the elements of x must be floats or integers");
  constexpr index_t rank = list_size<axes_of<X>>;
  index_t sizes[rank + 1] = {};
  const auto v = x.view();
  v.shape().copy_sizes(sizes);
  std::string text = shape_text(x, operand);
  text += '\n';
  if constexpr (numbers) {
    print_detail::append_elements(text, v.data(), sizes, v.strides(), rank, 0, options);
  }
  return text;
}

}  // namespace imbrex::inline IMBREX_ABI
