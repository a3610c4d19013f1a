// The memory that a forward pass writes to, set aside once.
#pragma once

#include <type_traits>
#include <utility>

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
  /// more, or has more sequences, makes the room first. Throws ShapeError where rows < 1,
  /// CapacityError where there is no memory.
  template <class DecoderType>
  explicit Workspace(const DecoderType& decoder, index_t rows = 256, index_t logit_rows = 1)
      : dims_(decoder.config().dims), rows_(checked(rows)) {
    Arena counted;
    decoder.scratch(counted, rows);
    memory_ = Buffer<float>(counted.used());
    tokens_ = Buffer<token_t>(rows);
    positions_ = Buffer<index_t>(rows);
    reserve_logits(logit_rows);
    reserve_sequences(greater(logit_rows, 1));
  }

  /// A workspace that was moved from has no rows and fits no decoder: every use of it is an error.
  Workspace(Workspace&& other) noexcept
      : dims_(std::exchange(other.dims_, no_dims)),
        rows_(std::exchange(other.rows_, 0)),
        memory_(std::move(other.memory_)),
        logits_(std::move(other.logits_)),
        tokens_(std::move(other.tokens_)),
        positions_(std::move(other.positions_)),
        segments_(std::move(other.segments_)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    Workspace taken(std::move(other));
    dims_ = taken.dims_;
    rows_ = taken.rows_;
    memory_ = std::move(taken.memory_);
    logits_ = std::move(taken.logits_);
    tokens_ = std::move(taken.tokens_);
    positions_ = std::move(taken.positions_);
    segments_ = std::move(taken.segments_);
    return *this;
  }

  /// Rows of a chunk, and the sizes of the decoder that it is for.
  index_t rows() const { return rows_; }
  const Dims& dims() const { return dims_; }

  /// Bytes set aside.
  index_t bytes() const {
    return index_t{sizeof(float)} * (memory_.size() + logits_.size()) +
           index_t{sizeof(token_t)} * tokens_.size() +
           index_t{sizeof(index_t)} * positions_.size() +
           index_t{sizeof(Segment)} * segments_.size();
  }

  /// Makes room for `rows` rows of logits where there is less; what was there is lost. Throws
  /// CapacityError.
  void reserve_logits(index_t rows) {
    index_t floats = 0;
    if (!multiply_fits(rows, dims_.vocab, floats)) {
      raise(CapacityError("workspace: " + std::to_string(rows) + " rows of logits do not fit"));
    }
    if (floats > logits_.size()) logits_ = Buffer<float>(floats);
  }

  /// The same for the bookkeeping of passes over `count` sequences. A chunk has at most one a row.
  void reserve_sequences(index_t count) {
    const index_t segments = lesser(count, rows_);
    if (segments > segments_.size()) segments_ = Buffer<Segment>(segments);
  }

  /// What a forward pass works on.
  float* memory() { return memory_.data(); }
  index_t memory_floats() const { return memory_.size(); }
  float* logits() { return logits_.data(); }
  token_t* tokens() { return tokens_.data(); }
  index_t* positions() { return positions_.data(); }
  Segment* segments() { return segments_.data(); }

 private:
  static constexpr Dims no_dims{0, 0, 0, 0, 0, 0, 0};

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
  Buffer<Segment> segments_;
  bool in_use_ = false;

  friend class WorkspaceUse;
};

/// Held by a forward pass as long as it works: a second pass in the same workspace, started by an
/// observer, say, would overwrite the first one's activations. Throws ShapeError where there is
/// one.
class WorkspaceUse {
 public:
  explicit WorkspaceUse(Workspace& workspace) : workspace_(workspace) {
    if (workspace.in_use_) {
      raise(ShapeError("forward: expected a workspace that no other pass is using"));
    }
    workspace.in_use_ = true;
  }
  WorkspaceUse(const WorkspaceUse&) = delete;
  WorkspaceUse& operator=(const WorkspaceUse&) = delete;
  ~WorkspaceUse() { workspace_.in_use_ = false; }

 private:
  Workspace& workspace_;
};

}  // namespace imbrex::inline IMBREX_ABI
