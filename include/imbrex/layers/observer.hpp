// Watching a forward pass: every named step, its shape and its values.
#pragma once

#include <string>

#include "imbrex/base/function_ref.hpp"
#include "imbrex/layers/operand.hpp"

namespace imbrex::inline IMBREX_ABI {

/// One step of a forward pass. `value` is valid during the call only.
struct Step {
  index_t layer;     ///< the block, from 0; -1 outside the blocks
  const char* name;  ///< "q", "attended", "ffn_out", ...
  ConstOperand value;

  /// "blk.3.q", or the name alone outside the blocks.
  std::string path() const {
    return layer < 0 ? name : "blk." + std::to_string(layer) + "." + name;
  }
  /// "blk.3.q[Time=5, Heads=9, HeadDim=64]".
  std::string shape_text() const {
    const std::string operand = path();
    return to_string(value.ref(operand.c_str()));
  }
};

/// Who watches, or nobody; a reference to something callable with a `const Step&`. Where there is
/// nobody, a step costs one test of a pointer.
class Observer : public FunctionRef<void(const Step&)> {
 public:
  using FunctionRef::FunctionRef;

  /// Shows x, if anybody watches.
  template <TensorLike X>
  void show(index_t layer, const char* name, const X& x) const {
    if (*this) (*this)(Step{layer, name, ConstOperand::of(x)});
  }
};

}  // namespace imbrex::inline IMBREX_ABI
