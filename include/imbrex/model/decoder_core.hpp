// What a decoder computes, with all sizes known at run time: the one implementation behind every
// Decoder<dims>.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "imbrex/base/arithmetic.hpp"
#include "imbrex/kernels/scale.hpp"
#include "imbrex/kernels/soft_cap.hpp"
#include "imbrex/layers/block.hpp"
#include "imbrex/layers/embedding.hpp"
#include "imbrex/layers/linear.hpp"
#include "imbrex/model/chunks.hpp"
#include "imbrex/model/decoder_parts.hpp"
#include "imbrex/model/workspace.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Which logits a pass computes: after the last token of each sequence, or after every token.
enum class WantedLogits { last, all };

/// A decoder of dynamic sizes over a kind of block; `Decoder` says what it does. (A template, so
/// that a program that includes it and makes no decoder compiles none.)
template <class BlockType = Block<Model<>, Heads<>, KvHeads<>, HeadDim<>, Hidden<>>>
class DecoderCore {
 public:
  using M = Model<>;
  using V = Vocab<>;

  /// Throws ConfigError, ShapeError. `pattern` are the static sizes of the Decoder.
  DecoderCore(const Config& config, const Dims& pattern, const DecoderWeights& weights)
      : config_(decoder_parts::checked(config, pattern)) {
    const decoder_parts::Builder build(config_, weights);
    embedding_ = Embedding<V, M>(build.embedding(), "token_embd");
    for (index_t i = 0; i < config_.dims.layers; ++i) blocks_.push_back(build.block(i));
    norm_.emplace(build.norm());
    head_ = Linear<M, V>(build.head(), "output");
  }

  /// The configuration, and the layers.
  const Config& config() const { return config_; }
  const Embedding<V, M>& embedding() const { return embedding_; }
  const BlockType& block(index_t i) const {
    if (i < 0 || i >= config_.dims.layers) {
      raise(ShapeError("block: expected 0 to " + std::to_string(config_.dims.layers - 1) +
                       ", got " + std::to_string(i)));
    }
    return blocks_[static_cast<std::size_t>(i)];
  }
  const RMSNorm<M>& norm() const { return *norm_; }
  const Linear<M, V>& head() const { return head_; }

  /// Bytes of weights that a pass over one token reads: all matrices, of the embedding one row.
  index_t bytes_per_token() const {
    index_t bytes = embedding_.table().row_bytes() + head_.weight().bytes();
    for (const BlockType& b : blocks_) {
      bytes += b.attention.q.weight().bytes() + b.attention.k.weight().bytes() +
               b.attention.v.weight().bytes() + b.attention.out.weight().bytes() +
               b.ffn.gate.weight().bytes() + b.ffn.up.weight().bytes() +
               b.ffn.down.weight().bytes();
    }
    return bytes;
  }

  /// Cuts the activations of `rows` rows out of an arena; a Workspace does this once to size
  /// itself.
  struct Scratch {
    View<float, Time<>, M> x, last;
    typename BlockType::Scratch block;
  };
  Scratch scratch(Arena& arena, index_t rows) const {
    const Time<> time(rows);
    const M model = M(config_.dims.model);
    return {arena.take(time, model), arena.take(time, model), blocks_.front().scratch(arena, rows)};
  }

  /// Returns how many tokens went through. Everything that can be wrong is found before the first
  /// write, and the caches grow at the end: a pass that throws has changed nothing.
  index_t forward(Workspace& workspace, std::span<const SequenceInput> inputs, WantedLogits wanted,
                  const Observer& observer) const {
    const WorkspaceUse use(workspace);
    chunks_detail::check_workspace(workspace.dims(), config_.dims);
    const index_t total = check_inputs(inputs, config_.dims);
    // Wrong values of IMBREX_ISA and IMBREX_ARITHMETIC throw here.
    kernels::active_kernels();
    active_arithmetic();
    workspace.reserve_sequences(static_cast<index_t>(inputs.size()));
    workspace.reserve_logits(wanted == WantedLogits::all  // last: the old ones are gone then
                                 ? total
                                 : static_cast<index_t>(inputs.size()));
    const auto pass = [&] { run_chunks(workspace, inputs, wanted, observer); };
    // What an observer does is its own business: it may throw, and have threads of its own.
    if (observer) {
      pass();
    } else {
      with_team(pass);
    }
    check_inputs(inputs, config_.dims);  // an observer may have touched a cache: all grow, or none
    for (const SequenceInput& input : inputs) {
      input.cache->append(static_cast<index_t>(input.tokens.size()));
    }
    return total;
  }

  /// The logits after every token of `count / time` whole sequences of `time` tokens.
  void evaluate(const token_t* ids, index_t count, index_t time, float* logits) const {
    if (count == 0) return;
    Workspace workspace(*this, lesser(time, 256), time);
    KvCache cache(config_, time);
    for (index_t first = 0; first < count; first += time) {
      cache.clear();
      const SequenceInput input{{ids + first, static_cast<std::size_t>(time)}, &cache};
      forward(workspace, {&input, 1}, WantedLogits::all, {});
      std::memcpy(logits + first * config_.dims.vocab, workspace.logits(),
                  static_cast<std::size_t>(time * config_.dims.vocab) * sizeof(float));
    }
  }

 private:
  V vocab() const { return V(config_.dims.vocab); }

  /// Takes all chunks through. Nothing but an observer throws here.
  void run_chunks(Workspace& workspace, std::span<const SequenceInput> inputs, WantedLogits wanted,
                  const Observer& observer) const {
    Chunks chunks(inputs, workspace);
    float* logits = workspace.logits();
    while (true) {
      index_t ends = 0;
      const index_t rows = chunk(workspace, chunks, wanted, logits, ends, inputs, observer);
      if (rows == 0) break;
      logits += (wanted == WantedLogits::all ? rows : ends) * config_.dims.vocab;
    }
  }

  /// Takes the next chunk through all blocks, and its wanted rows through norm and head. Returns
  /// its number of rows, and in `ends` how many sequences end in it.
  index_t chunk(Workspace& workspace, Chunks& chunks, WantedLogits wanted, float* logits,
                index_t& ends, std::span<const SequenceInput> inputs,
                const Observer& observer) const {
    std::size_t first_sequence = 0, sequences = 0;
    const index_t rows = chunks.next([&](const Chunks::Run& run) {
      if (sequences == 0) first_sequence = run.sequence;
      KvCache& cache = *inputs[run.sequence].cache;
      workspace.segments()[sequences++] = {run.first, run.rows, run.start,
                                           cache.cached_keys(0, run.start + run.rows),
                                           cache.cached_values(0, run.start + run.rows)};
      ends += run.ends ? 1 : 0;
    });
    if (rows == 0) return 0;
    const std::span<Segment> segments(workspace.segments(), sequences);
    Arena arena(workspace.memory(), workspace.memory_floats());
    const Scratch s = scratch(arena, rows);
    embed(workspace, s, observer);
    const View<const index_t, Time<>> positions(workspace.positions(), Shape<Time<>>(Time<>(rows)));
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const index_t layer = static_cast<index_t>(i);
      for (std::size_t j = 0; j < segments.size(); ++j) {
        KvCache& cache = *inputs[first_sequence + j].cache;
        segments[j].keys = cache.cached_keys(layer, segments[j].start + segments[j].rows);
        segments[j].values = cache.cached_values(layer, segments[j].start + segments[j].rows);
      }
      blocks_[i].into(s.x, positions, segments, s.block, observer, layer);
    }
    if (wanted == WantedLogits::all) {
      project(s.x, s.last, logits, observer);
    } else {
      project(gather_ends(s, segments, ends), s.last, logits, observer);
    }
    return rows;
  }

  void embed(Workspace& workspace, const Scratch& s, const Observer& observer) const {
    const View<const token_t, Time<>> ids(workspace.tokens(), Shape<Time<>>(Time<>(s.x.size(0))));
    embedding_.into(s.x, ids);
    if (config_.embedding_scale != 1) {
      kernels::scale(as_rows(s.x), as_rows(s.x), static_cast<float>(config_.embedding_scale));
    }
    observer.show(-1, "embedding", s.x);
  }

  /// The last row of each of the first `ends` segments, moved together at the front of s.last. All
  /// segments but the last of a chunk end in it.
  View<float, Time<>, M> gather_ends(const Scratch& s, std::span<const Segment> segments,
                                     index_t ends) const {
    for (index_t i = 0; i < ends; ++i) {
      const Segment& segment = segments[static_cast<std::size_t>(i)];
      std::memcpy(&s.last(i, 0), &s.x(segment.first + segment.rows - 1, 0),
                  static_cast<std::size_t>(config_.dims.model) * sizeof(float));
    }
    return {s.last.data(), Shape<Time<>, M>(Time<>(ends), M(config_.dims.model))};
  }

  /// logits = head(norm(x)) for all rows of x.
  void project(const View<float, Time<>, M>& x, const View<float, Time<>, M>& normed, float* logits,
               const Observer& observer) const {
    if (x.size(0) == 0) return;
    const View<float, Time<>, M> to(normed.data(), x.shape());
    norm_->into(to, x);
    observer.show(-1, "norm", to);
    const View<float, Time<>, V> y(logits, Shape<Time<>, V>(Time<>(x.size(0)), vocab()));
    head_.into(y, to);
    if (config_.logit_softcap != 0) {
      kernels::soft_cap(as_rows(y), as_rows(y), static_cast<float>(config_.logit_softcap));
    }
    observer.show(-1, "logits", y);
  }

  Config config_;
  Embedding<V, M> embedding_;
  std::vector<BlockType> blocks_;
  std::optional<RMSNorm<M>> norm_;
  Linear<M, V> head_;
};

}  // namespace imbrex::inline IMBREX_ABI
