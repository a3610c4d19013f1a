// A shape with its types erased: what errors and printing take, so that they are compiled once.
#pragma once

#include <string>

#include "imbrex/base/errors.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The names and sizes of a shape, and what the operand is called. Does not own; valid while the
/// shape it was made from is.
struct ShapeRef {
  const char* operand;       ///< "x", "gate"; empty for none
  const char* const* names;  ///< `rank` axis names
  const index_t* sizes;      ///< `rank` sizes
  index_t rank;
};

/// The one notation for shapes, everywhere: `x[Batch=2, Time=16, Model=512]`.
inline std::string to_string(const ShapeRef& shape) {
  std::string text = shape.operand;
  text += '[';
  for (index_t i = 0; i < shape.rank; ++i) {
    if (i > 0) text += ", ";
    text += shape.names[i];
    text += '=';
    text += std::to_string(shape.sizes[i]);
  }
  return text + ']';
}

/// Throws an E whose message is the sentence, then the shapes: "gate(x): ...: x[...], gate[...]".
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(const char* sentence, const ShapeRef& x) {
  raise(E(std::string(sentence) + ": " + to_string(x)));
}
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(const char* sentence, const ShapeRef& x,
                                                        const ShapeRef& w) {
  raise(E(std::string(sentence) + ": " + to_string(x) + ", " + to_string(w)));
}

}  // namespace imbrex::inline IMBREX_ABI
