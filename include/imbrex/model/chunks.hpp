// Several sequences' new tokens as one row of chunks, none longer than a workspace.
#pragma once

#include <iterator>
#include <span>
#include <string>

#include "imbrex/layers/embedding.hpp"
#include "imbrex/model/kv_cache.hpp"
#include "imbrex/model/workspace.hpp"

namespace imbrex::inline IMBREX_ABI {

/// One sequence's part in a forward pass: its next tokens, and the cache of those before them, to
/// which they are added.
struct SequenceInput {
  std::span<const token_t> tokens;
  KvCache* cache;
};

namespace chunks_detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_sequence(std::size_t i,
                                                                 const std::string& problem) {
  raise(CapacityError("sequence " + std::to_string(i) + ": " + problem));
}

inline void check_cache(const KvCache& cache, const Dims& dims) {
  if (cache.layers() == dims.layers && cache.kv_heads() == dims.kv_heads &&
      cache.head_dim() == dims.head_dim) {
    return;
  }
  const char* names[] = {"Layers", KvHeads<>::name, HeadDim<>::name};
  const index_t has[] = {cache.layers(), cache.kv_heads(), cache.head_dim()};
  const index_t wants[] = {dims.layers, dims.kv_heads, dims.head_dim};
  fail<ShapeError>("forward: the cache must have been made for a decoder of the same sizes",
                   {"cache", names, has, 3}, {"decoder", names, wants, 3});
}

inline void check_workspace(const Dims& workspace, const Dims& decoder) {
  if (workspace == decoder) return;
  constexpr index_t fields = std::size(dims_fields);
  const char* names[fields];
  index_t has[fields], wants[fields];
  for (index_t i = 0; i < fields; ++i) {
    names[i] = dims_fields[i].name;
    has[i] = workspace.*dims_fields[i].size;
    wants[i] = decoder.*dims_fields[i].size;
  }
  fail<ShapeError>("forward: the workspace must have been made for a decoder of the same sizes",
                   {"workspace", names, has, fields}, {"decoder", names, wants, fields});
}

}  // namespace chunks_detail

/// Checks all that can be wrong with the inputs of a pass, and returns how many tokens they have.
/// Throws ShapeError, CapacityError, TokenError.
inline index_t check_inputs(std::span<const SequenceInput> inputs, const Dims& dims) {
  index_t total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SequenceInput& input = inputs[i];
    const index_t count = static_cast<index_t>(input.tokens.size());
    if (input.cache == nullptr) raise(ShapeError("sequence " + std::to_string(i) + ": no cache"));
    if (count == 0) {
      raise(ShapeError("sequence " + std::to_string(i) + ": expected 1 token or more, got none"));
    }
    chunks_detail::check_cache(*input.cache, dims);
    if (count > input.cache->room()) {
      chunks_detail::fail_sequence(
          i, "expected at most " + std::to_string(input.cache->room()) +
                 " tokens (the cache holds " + std::to_string(input.cache->length()) + " of " +
                 std::to_string(input.cache->capacity()) + "), got " + std::to_string(count));
    }
    check_tokens(input.tokens.data(), count, dims.vocab);
    for (std::size_t j = 0; j < i; ++j) {
      if (inputs[j].cache == input.cache) {
        raise(ShapeError("sequences " + std::to_string(j) + " and " + std::to_string(i) +
                         ": each must have a cache of its own"));
      }
    }
    total += count;
  }
  return total;
}

/// Walks over the rows of a pass, a chunk at a time. Tokens and positions of the chunk are put into
/// the workspace.
class Chunks {
 public:
  Chunks(std::span<const SequenceInput> inputs, Workspace& workspace)
      : inputs_(inputs), workspace_(workspace) {}

  /// A run of rows of one sequence within a chunk.
  struct Run {
    std::size_t sequence;
    index_t first, rows, start;
    bool ends;  ///< the sequence's last token is the run's last row
  };

  /// Fills the next chunk and calls run(Run) for each of its runs, in order. Returns its number of
  /// rows; 0 at the end.
  template <class OnRun>
  index_t next(const OnRun& on_run) {
    index_t rows = 0;
    while (sequence_ < inputs_.size() && rows < workspace_.rows()) {
      const SequenceInput& input = inputs_[sequence_];
      const index_t left = static_cast<index_t>(input.tokens.size()) - done_;
      const index_t take = lesser(left, workspace_.rows() - rows);
      const index_t start = input.cache->length() + done_;
      for (index_t i = 0; i < take; ++i) {
        workspace_.tokens()[rows + i] = input.tokens[static_cast<std::size_t>(done_ + i)];
        workspace_.positions()[rows + i] = start + i;
      }
      on_run(Run{sequence_, rows, take, start, take == left});
      rows += take;
      done_ = take == left ? 0 : done_ + take;
      if (take == left) ++sequence_;
    }
    return rows;
  }

 private:
  std::span<const SequenceInput> inputs_;
  Workspace& workspace_;
  std::size_t sequence_ = 0;
  index_t done_ = 0;  // tokens of that sequence already gone through
};

}  // namespace imbrex::inline IMBREX_ABI
