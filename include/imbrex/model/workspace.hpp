// The memory that a forward pass writes to, set aside once.
#pragma once

#include <vector>

#include "imbrex/layers/arena.hpp"
#include "imbrex/layers/embedding.hpp"
#include "imbrex/layers/segment.hpp"
#include "imbrex/model/dims.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Room for the activations of `rows` rows, and for logits. Longer prompts go through in chunks of
/// `rows`. One workspace serves one forward pass at a time; the logits of a pass are in it until
/// the next one.
class Workspace {
 public:
  /// For `decoder`, or any other of the same sizes. `logit_rows` rows of logits are set aside: one
  /// for each sequence of a pass, or one for each token where all are wanted; a pass that needs
  /// more makes the room first. Throws ShapeError where rows < 1, CapacityError where there is no
  /// memory.
  template <class DecoderType>
  explicit Workspace(const DecoderType& decoder, index_t rows = 256, index_t logit_rows = 1)
      : dims_(decoder.config().dims), rows_(checked(rows)) {
    Arena counted;
    decoder.scratch(counted, rows);
    memory_ = Buffer<float>(counted.used());
    tokens_ = Buffer<token_t>(rows);
    positions_ = Buffer<index_t>(rows);
    segments_.reserve(static_cast<std::size_t>(rows));
    reserve_logits(logit_rows);
  }

  index_t rows() const { return rows_; }
  const Dims& dims() const { return dims_; }

  /// Bytes set aside.
  index_t bytes() const {
    return index_t{sizeof(float)} * (memory_.size() + logits_.size()) +
           index_t{sizeof(token_t)} * tokens_.size() + index_t{sizeof(index_t)} * positions_.size();
  }

  /// Makes room for `rows` rows of logits where there is less; what was there is lost.
  void reserve_logits(index_t rows) {
    index_t floats = 0;
    if (!multiply_fits(rows, dims_.vocab, floats)) {
      raise(CapacityError("workspace: " + std::to_string(rows) + " rows of logits do not fit"));
    }
    if (floats > logits_.size()) logits_ = Buffer<float>(floats);
  }

  // What a forward pass works on.
  float* memory() { return memory_.data(); }
  float* logits() { return logits_.data(); }
  token_t* tokens() { return tokens_.data(); }
  index_t* positions() { return positions_.data(); }
  std::vector<Segment>& segments() { return segments_; }

 private:
  static index_t checked(index_t rows) {
    if (rows < 1) {
      raise(ShapeError("workspace: expected 1 row or more, got " + std::to_string(rows)));
    }
    return rows;
  }

  Dims dims_;
  index_t rows_;
  Buffer<float> memory_, logits_;
  Buffer<token_t> tokens_;
  Buffer<index_t> positions_;
  std::vector<Segment> segments_;
};

}  // namespace imbrex::inline IMBREX_ABI
