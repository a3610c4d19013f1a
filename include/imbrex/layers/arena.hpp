// Scratch memory cut into views, in the order in which it is asked for.
#pragma once

#include <initializer_list>

#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/buffer.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Cuts views out of one block of floats; each starts on a cache line. Without a block it only
/// counts: the same code says how much memory it needs, and then takes it.
class Arena {
 public:
  Arena() = default;
  Arena(float* memory, index_t floats) : memory_(memory), floats_(floats) {}

  /// The next view, of these axes. Throws CapacityError where the block has not so many floats, or
  /// they cannot be counted.
  template <AxisType... As>
  View<float, As...> take(As... axes_of) {
    const Shape<As...> shape(axes_of...);
    const index_t first = used_;
    advance(shape.count());
    return {memory_ == nullptr ? nullptr : memory_ + first, shape};
  }

  /// Floats taken so far.
  index_t used() const { return used_; }

 private:
  static constexpr index_t line = 16;  // floats in 64 bytes
  static constexpr index_t unlimited = -1;

  void advance(index_t count) {
    index_t used = 0, rounded = 0;
    if (!add_fits(used_, count, used) || !add_fits(used, line - 1, rounded)) {
      raise(CapacityError("scratch memory: more floats than can be counted"));
    }
    if (floats_ != unlimited && used > floats_) {
      raise(CapacityError("scratch memory: expected " + std::to_string(used) +
                          " floats or more, got " + std::to_string(floats_)));
    }
    used_ = rounded / line * line;
  }

  float* memory_ = nullptr;
  index_t floats_ = unlimited;
  index_t used_ = 0;
};

/// Throws ShapeError where a piece of scratch has other sizes than the layer needs for its rows.
inline void check_scratch(const MutableOperand& scratch, std::initializer_list<index_t> expected) {
  const index_t* sizes = expected.begin();
  for (index_t i = 0; i < scratch.rank; ++i) {
    if (scratch.sizes[i] != sizes[i]) {
      fail<ShapeError>("scratch must have been cut for the rows of x", scratch.ref("scratch"),
                       {"expected", scratch.names, sizes, scratch.rank});
    }
  }
  scratch.check_dense();
}

/// A layer's scratch for some rows, with the memory it lies in.
template <class Layer>
class Scratched {
 public:
  Scratched(const Layer& layer, index_t rows)
      : memory_(floats(layer, rows)),
        arena_(memory_.data(), memory_.size()),
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
  /// What the layer works in.
  const typename Layer::Scratch scratch;
};

}  // namespace imbrex::inline IMBREX_ABI
