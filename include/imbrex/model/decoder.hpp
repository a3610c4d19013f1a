// The decoder: token ids in, logits out.
#pragma once

#include <span>
#include <type_traits>

#include "imbrex/layers/linear.hpp"

// linear.hpp before the headers that have it inside: compilers print the way to it in every error.
#include "imbrex/layers/retype.hpp"
#include "imbrex/model/decoder_core.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A Llama-style decoder:
///
///     x = embedding(tokens),  x = block(x) for each block,  logits = head(norm(x))
///
/// One class for sizes known to the compiler, `Decoder<presets::llama2_7b.dims>`, and for sizes
/// read from a file, `Decoder<>`; or some of each. Move-only. A const Decoder may be used by any
/// number of threads at once: what a pass changes is in its Workspace and its KvCaches.
template <Dims dims = Dims{}>
class Decoder {
  static_assert(heads_divide<Heads<dims.heads>, KvHeads<dims.kv_heads>>,
                "Decoder: the number of KvHeads must divide that of Heads");

 public:
  /// Its axes, and the type of its blocks.
  using M = Model<dims.model>;
  using V = Vocab<dims.vocab>;
  using H = Heads<dims.heads>;
  using K = dividing_heads<H, KvHeads<dims.kv_heads>>;
  using D = HeadDim<dims.head_dim>;
  using F = Hidden<dims.hidden>;
  using BlockType = Block<M, H, K, D, F>;

  /// What `accepts` asks of a layer.
  using input_type = token_t;
  template <class List>
  static constexpr bool accepts_axes =
      axes_end_with<List, Axes<Time<>>> && names_differ<join<List, Axes<V>>>;

  /// Makes layers of weights. Throws ConfigError where config is not one that can be computed,
  /// or there is a weight that it does not have (a bias, say), ShapeError where its sizes are not
  /// those of `dims`, or a weight is missing or has not the sizes it should.
  Decoder(const Config& config, const DecoderWeights& weights) : core_(config, dims, weights) {}

  Decoder(Decoder&&) noexcept = default;
  Decoder& operator=(Decoder&&) noexcept = default;

  /// The configuration that it was made with.
  const Config& config() const { return core_.config(); }

  /// The layers, with the axes of this decoder; they share its weights. Throws ShapeError for a
  /// block that there is not.
  Embedding<V, M> embedding() const { return retype<Embedding<V, M>>(core_.embedding()); }
  BlockType block(index_t i) const { return retype<BlockType>(core_.block(i)); }
  RMSNorm<M> norm() const { return RMSNorm<M>(core_.norm()); }
  Linear<M, V> head() const { return Linear<M, V>(core_.head()); }

  /// Bytes of weights that a pass over one token reads: all matrices, of the embedding one row.
  index_t bytes_per_token() const { return core_.bytes_per_token(); }

  /// Takes each sequence's tokens through the decoder, all in one pass, and returns the logits
  /// after its last one: [Batch, Vocab], Batch = the sequences. A view into the workspace, valid
  /// until its next use. The caches are longer by the tokens afterwards. Throws ShapeError,
  /// CapacityError (tokens past a cache's capacity), TokenError; then caches are as before. With
  /// one token for each sequence it allocates nothing.
  View<const float, Batch<>, V> last_logits(Workspace& workspace,
                                            std::span<const SequenceInput> inputs,
                                            const Observer& observer = {}) const {
    const index_t rows = static_cast<index_t>(inputs.size());
    core_.forward(workspace, inputs, WantedLogits::last, observer);
    return {workspace.logits(), Shape<Batch<>, V>(Batch<>(rows), vocab())};
  }

  /// The same for one sequence: [Vocab].
  View<const float, V> last_logits(Workspace& workspace, KvCache& cache,
                                   std::span<const token_t> tokens,
                                   const Observer& observer = {}) const {
    const SequenceInput input{tokens, &cache};
    core_.forward(workspace, {&input, 1}, WantedLogits::last, observer);
    return {workspace.logits(), Shape<V>(vocab())};
  }

  /// As last_logits, but after every token: [Time, Vocab], the sequences' rows one after the other.
  View<const float, Time<>, V> all_logits(Workspace& workspace,
                                          std::span<const SequenceInput> inputs,
                                          const Observer& observer = {}) const {
    const index_t rows = core_.forward(workspace, inputs, WantedLogits::all, observer);
    return {workspace.logits(), Shape<Time<>, V>(Time<>(rows), vocab())};
  }

  /// The same for one sequence.
  View<const float, Time<>, V> all_logits(Workspace& workspace, KvCache& cache,
                                          std::span<const token_t> tokens,
                                          const Observer& observer = {}) const {
    const SequenceInput input{tokens, &cache};
    return all_logits(workspace, {&input, 1}, observer);
  }

  /// The logits after every token of whole sequences, ids [..., Time] to [..., Time, Vocab]: the
  /// plain mathematical function, with memory of its own. Throws ShapeError, TokenError.
  template <TensorLike X>
  auto operator()(const X& ids) const {
    static_assert(axes_agree<tail_of<X, Time<>>, Time<>>,
                  "decoder(ids): the last axis of ids must be Time");
    constexpr bool tokens = std::is_same_v<std::remove_const_t<typename X::element_type>, token_t>;
    static_assert(tokens, "decoder(ids): ids must hold token_t");
    using List = join<axes_of<X>, Axes<V>>;
    const auto v = ids.view();
    index_t sizes[list_size<List>] = {};
    v.shape().copy_sizes(sizes);
    sizes[list_size<List> - 1] = config().dims.vocab;
    tensor_of<float, List> logits(shape_of<List>::from_sizes(sizes));
    if (!v.is_contiguous()) raise(ShapeError("decoder(ids): ids must be contiguous"));
    if constexpr (tokens)
      core_.evaluate(v.data(), v.count(), sizes[list_size<List> - 2], logits.data());
    return logits;
  }

  /// Cuts the activations of `rows` rows out of an arena: how a Workspace knows its size.
  void scratch(Arena& arena, index_t rows) const { core_.scratch(arena, rows); }

 private:
  V vocab() const { return make_axis<V>(config().dims.vocab); }

  DecoderCore<> core_;
};

}  // namespace imbrex::inline IMBREX_ABI
