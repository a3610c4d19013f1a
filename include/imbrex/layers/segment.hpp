// Which rows of a chunk belong to which sequence.
#pragma once

#include <span>

#include "imbrex/layers/arena.hpp"
#include "imbrex/layers/cached_heads.hpp"
#include "imbrex/layers/operand.hpp"
#include "imbrex/tensor/tensor.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Rows [first, first + rows) of a chunk that belong to one sequence, and that sequence's keys and
/// values up to its last row, `Keys` = start + rows of them: those before `start` were computed
/// earlier, the others are written by the pass.
struct Segment {
  index_t first, rows, start;
  CachedHeads keys, values;
};

/// What a layer needs to take whole sequences of `time` rows from position 0, one after the other,
/// with keys and values that nobody keeps. Layer is Attention or Block.
template <class Layer>
struct WholeSequences {
  WholeSequences(const Layer& layer, index_t time)
      : positions{Time<>(time)},
        memory(floats(layer, time)),
        arena(memory.data(), memory.size()),
        scratch(layer.scratch(arena, time)),
        segment(layer.segment(arena, time)) {
    for (index_t t = 0; t < time; ++t) positions(t) = t;
  }

  /// One segment: a sequence's rows, with no keys before them.
  std::span<const Segment> segments() const { return {&segment, 1}; }

  /// Calls run(y, x) with the views [Time, M] of each sequence.
  template <class Run>
  void each(const kernels::Rows& y, const kernels::ConstRows& x, const Run& run) const {
    using M = typename Layer::model_axis;
    const index_t time = segment.rows;
    for (index_t first = 0; time > 0 && first < y.rows; first += time) {
      run(as_time<M>(kernels::Rows{y.row(first), time, y.cols, y.stride}),
          as_time<M>(kernels::ConstRows{x.row(first), time, x.cols, x.stride}));
    }
  }

  /// What Attention::into and Block::into take, and the memory it lies in.
  Tensor<index_t, Time<>> positions;
  Buffer<float> memory;
  Arena arena;
  typename Layer::Scratch scratch;
  Segment segment;

 private:
  static index_t floats(const Layer& layer, index_t time) {
    Arena counted;
    layer.scratch(counted, time);
    layer.segment(counted, time);
    return counted.used();
  }
};

}  // namespace imbrex::inline IMBREX_ABI
