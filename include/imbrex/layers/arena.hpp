// Scratch memory cut into views, in the order in which it is asked for.
#pragma once

#include "imbrex/tensor/buffer.hpp"
#include "imbrex/tensor/view.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Cuts views out of one block of floats; each starts on a cache line. Without a block it only
/// counts: the same code says how much memory it needs, and then takes it.
class Arena {
 public:
  Arena() = default;
  explicit Arena(float* memory) : memory_(memory) {}

  /// The next view, of these axes. Throws CapacityError where the floats cannot be counted.
  template <AxisType... As>
  View<float, As...> take(As... axes_of) {
    const Shape<As...> shape(axes_of...);
    float* at = memory_ == nullptr ? nullptr : memory_ + used_;
    index_t used = 0;
    if (!add_fits(used_, shape.count(), used) || !add_fits(used, line - 1, used)) {
      raise(CapacityError("scratch memory: more floats than can be counted"));
    }
    used_ = used / line * line;
    return {at, shape};
  }

  /// Floats taken so far.
  index_t used() const { return used_; }

 private:
  static constexpr index_t line = 16;  // floats in 64 bytes

  float* memory_ = nullptr;
  index_t used_ = 0;
};

/// A layer's scratch for some rows, with the memory it lies in.
template <class Layer>
class Scratched {
 public:
  Scratched(const Layer& layer, index_t rows)
      : memory_(floats(layer, rows)),
        arena_(memory_.data()),
        scratch(layer.scratch(arena_, rows)) {}

 private:
  static index_t floats(const Layer& layer, index_t rows) {
    Arena counted;
    layer.scratch(counted, rows);
    return counted.used();
  }

  Buffer<float> memory_;
  Arena arena_;

 public:
  const typename Layer::Scratch scratch;
};

}  // namespace imbrex::inline IMBREX_ABI
