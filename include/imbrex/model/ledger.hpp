// What a configuration adds up to: parameters by part, bytes, FLOPs. Constant expressions all, so
// that a program can write
//
//   static_assert(count_parameters(presets::llama2_7b).total == 6'738'415'616);
//
// Counts and bytes are exact or an error: of a size not known yet, or of a sum past 2^63 - 1, there
// is no number (no constant in a constant expression, ConfigError at run time). FLOPs are double.
#pragma once

#include "imbrex/base/dtype.hpp"
#include "imbrex/model/config_check.hpp"

namespace imbrex::ledger::inline IMBREX_ABI {

[[noreturn, gnu::cold, gnu::noinline]] inline void overflow() {
  raise(ConfigError("count", "more than 9223372036854775807", "sizes whose counts fit 64 bits"));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void partial_block(Dtype dtype, index_t columns) {
  raise(ConfigError("dtype", name(dtype),
                    "one whose blocks of " + std::to_string(traits(dtype).block) +
                        " divide a row of " + std::to_string(columns)));
}

/// A count whose sums and products cannot wrap.
struct Count {
  index_t n = 0;

  constexpr Count(index_t count) : n(count) {}  // implicit, so that formulas read as formulas
  friend constexpr Count operator*(Count a, Count b) {
    Count product = 0;
    if (!multiply_fits(a.n, b.n, product.n)) overflow();
    return product;
  }
  friend constexpr Count operator+(Count a, Count b) {
    Count sum = 0;
    if (!add_fits(a.n, b.n, sum.n)) overflow();
    return sum;
  }
};

/// Bytes of a [rows, columns] matrix.
constexpr Count matrix_bytes(Dtype dtype, Count rows, Count columns) {
  if (columns.n % traits(dtype).block != 0) partial_block(dtype, columns.n);
  return rows * (Count(columns.n / traits(dtype).block) * traits(dtype).bytes);
}

constexpr Count norms_per_block(const Config& config) {
  return config.norm_placement == NormPlacement::both ? 4 : 2;
}

constexpr Count norm_width(const Config& config) {
  return Count(config.dims.model) * (config.norm_bias ? 2 : 1);
}

/// Matrices from model to hidden width: gate and up, or up alone. One more leads back.
constexpr Count input_matrices(const Config& config) {
  return config.feed_forward == FeedForwardKind::gated ? 2 : 1;
}

}  // namespace imbrex::ledger::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Parameters of one block.
struct LayerParameters {
  index_t query = 0, key = 0, value = 0, output = 0;  ///< matrices of attention
  index_t attention_biases = 0;
  index_t qk_norm = 0;
  index_t feed_forward = 0;  ///< matrices: 3 when gated, else 2
  index_t feed_forward_biases = 0;
  index_t norms = 0;
  index_t total = 0;
};

/// Parameters of a decoder. total = embedding + positions + attention + feed_forward + norms +
/// head.
struct ParameterCount {
  index_t embedding = 0;     ///< Vocab x Model
  index_t positions = 0;     ///< Context x Model when learned, else 0
  LayerParameters layer{};   ///< one block; all are alike
  index_t attention = 0;     ///< of all blocks, with biases and QK norms
  index_t feed_forward = 0;  ///< of all blocks, with biases
  index_t norms = 0;         ///< of all blocks, and the last one
  index_t head = 0;          ///< Vocab x Model, or 0 where it is the embedding
  index_t total = 0;
};

/// Counts the parameters of one block of `config`:
/// Model*Heads*HeadDim (query) + 2*Model*KvHeads*HeadDim (key, value) + Heads*HeadDim*Model
/// (output) + 3*Model*Hidden (2 when not gated) + 2*Model (norms; 4 with norms on both sides), and
/// the biases and QK norms that the configuration has. Throws ConfigError as `check` does, and
/// where a count is larger than 2^63 - 1.
constexpr LayerParameters count_layer_parameters(const Config& config) {
  using ledger::Count;
  check(config);
  const Dims& d = config.dims;
  const Count q_width = Count(d.heads) * d.head_dim;
  const Count kv_width = Count(d.kv_heads) * d.head_dim;
  const Count inputs = ledger::input_matrices(config);
  LayerParameters p;
  p.query = (q_width * d.model).n;
  p.key = p.value = (kv_width * d.model).n;
  p.output = p.query;
  p.attention_biases = ((config.qkv_bias ? q_width + kv_width + kv_width : Count(0)) +
                        (config.output_bias ? Count(d.model) : Count(0)))
                           .n;
  if (config.qk_norm == QkNorm::per_head) p.qk_norm = (Count(2) * d.head_dim).n;
  if (config.qk_norm == QkNorm::full) p.qk_norm = (q_width + kv_width).n;
  p.feed_forward = ((inputs + 1) * (Count(d.model) * d.hidden)).n;
  if (config.ffn_bias) p.feed_forward_biases = (inputs * d.hidden + d.model).n;
  p.norms = (ledger::norms_per_block(config) * ledger::norm_width(config)).n;
  p.total = (Count(p.query) + p.key + p.value + p.output + p.attention_biases + p.qk_norm +
             p.feed_forward + p.feed_forward_biases + p.norms)
                .n;
  return p;
}

/// Counts the parameters of `config` by part: Layers blocks, Vocab*Model for the embedding, again
/// for the head unless tied, and a last norm. Throws ConfigError as count_layer_parameters.
constexpr ParameterCount count_parameters(const Config& config) {
  using ledger::Count;
  ParameterCount p;
  p.layer = count_layer_parameters(config);
  const Dims& d = config.dims;
  const LayerParameters& l = p.layer;
  p.embedding = (Count(d.vocab) * d.model).n;
  if (config.positions == Positions::learned) p.positions = (Count(config.context) * d.model).n;
  p.attention = (Count(d.layers) *
                 (Count(l.query) + l.key + l.value + l.output + l.attention_biases + l.qk_norm))
                    .n;
  p.feed_forward = (Count(d.layers) * (Count(l.feed_forward) + l.feed_forward_biases)).n;
  p.norms = (Count(d.layers) * l.norms + ledger::norm_width(config)).n;
  p.head = config.tie_embeddings ? 0 : p.embedding;
  p.total = (Count(p.embedding) + p.positions + p.attention + p.feed_forward + p.norms + p.head).n;
  return p;
}

/// Bytes of the weights: matrices and tables in `matrices`, norms and biases in `vectors` (f32 in
/// GGUF files whatever the matrices are). Throws ConfigError as count_parameters, and where a row
/// is not a whole number of `matrices`' blocks.
constexpr index_t weight_bytes(const Config& config, Dtype matrices, Dtype vectors) {
  using ledger::Count;
  const ParameterCount p = count_parameters(config);
  const Dims& d = config.dims;
  const auto bytes = [matrices](Count rows, Count columns) {
    return ledger::matrix_bytes(matrices, rows, columns);
  };
  const Count q_width = Count(d.heads) * d.head_dim;
  const Count kv_width = Count(d.kv_heads) * d.head_dim;
  const Count layer = bytes(q_width + kv_width + kv_width, d.model) + bytes(d.model, q_width) +
                      bytes(ledger::input_matrices(config) * d.hidden, d.model) +
                      bytes(d.model, d.hidden);
  const Count tables = Count(d.vocab) * (config.tie_embeddings ? 1 : 2) +
                       (config.positions == Positions::learned ? config.context : index_t{0});
  const LayerParameters& l = p.layer;
  const Count vector_elements =
      Count(d.layers) * (Count(l.attention_biases) + l.qk_norm + l.feed_forward_biases) + p.norms;
  if (traits(vectors).block != 1) ledger::partial_block(vectors, 1);
  return (Count(d.layers) * layer + bytes(tables, d.model) +
          ledger::matrix_bytes(vectors, vector_elements, 1))
      .n;
}

/// What a key-value cache has room for.
struct KvCacheSize {
  index_t tokens = 1;  ///< of each sequence
  index_t batch = 1;   ///< sequences
  Dtype dtype = Dtype::f16;
};

/// Bytes of the cache: 2 * Layers * KvHeads * HeadDim * tokens * batch elements; every layer keeps
/// every token, windowed or not. Llama-2 7B in f16: 512 KiB a token, 2 GiB at 4096 tokens. Throws
/// ConfigError as `check` does, for negative sizes, overflow, and heads that are no whole blocks.
constexpr index_t kv_cache_bytes(const Config& config, const KvCacheSize& size) {
  using ledger::Count;
  check(config);
  config_check::zero_or_more("tokens", size.tokens);
  config_check::zero_or_more("batch", size.batch);
  const Count heads = Count(2) * config.dims.layers * config.dims.kv_heads;
  return (ledger::matrix_bytes(size.dtype, heads, config.dims.head_dim) * size.tokens * size.batch)
      .n;
}

/// What a Workspace has room for.
struct WorkspaceSize {
  index_t rows = 256;      ///< of activations, of any sequences
  index_t logit_rows = 1;  ///< of logits
};

/// Bytes of a Workspace: the activations of one block, which the next block overwrites, and logits,
/// in f32: rows * (4 Model + 2 Heads*HeadDim + 2 KvHeads*HeadDim + 2 Hidden) and logit_rows * Vocab
/// numbers. The object has, besides, an id and a position for each row, and rounds every part up to
/// 64 bytes. Throws ConfigError as `check` does, for negative sizes, and overflow.
constexpr index_t workspace_bytes(const Config& config, const WorkspaceSize& size) {
  using ledger::Count;
  check(config);
  config_check::zero_or_more("rows", size.rows);
  config_check::zero_or_more("logit_rows", size.logit_rows);
  const Dims& d = config.dims;
  const Count a_row = Count(4) * d.model + Count(2) * d.heads * d.head_dim +
                      Count(2) * d.kv_heads * d.head_dim + Count(2) * d.hidden;
  return (ledger::matrix_bytes(Dtype::f32, size.rows, a_row) +
          ledger::matrix_bytes(Dtype::f32, size.logit_rows, d.vocab))
      .n;
}

/// What a training step is given.
struct ActivationSize {
  index_t tokens = 1;  ///< of each sequence
  index_t batch = 1;   ///< sequences
  Dtype dtype = Dtype::bf16;
};

/// Bytes of the activations that a backward pass reads again, for each token
///
///     Layers * (4 Model + 2 Heads*HeadDim + 2 KvHeads*HeadDim + 3 Hidden) + 2 Model + Vocab
///
/// numbers: what goes into norms and matrices, q and k as turned, v, gate, up and their product,
/// the logits; of layers with other norms or without gate accordingly. No scores: tiled attention
/// computes them again from q and k (Dao et al. 2022, algorithm 4). Throws ConfigError as `check`
/// does, for negative sizes, overflow, and formats of blocks.
constexpr index_t activation_bytes(const Config& config, const ActivationSize& size) {
  using ledger::Count;
  check(config);
  config_check::zero_or_more("tokens", size.tokens);
  config_check::zero_or_more("batch", size.batch);
  if (traits(size.dtype).block != 1) ledger::partial_block(size.dtype, 1);
  const Dims& d = config.dims;
  const Count heads = (Count(d.heads) + d.kv_heads) * d.head_dim;
  const Count head_tensors = config.qk_norm == QkNorm::none ? 2 : 3;
  const Count layer = (ledger::norms_per_block(config) + 2) * d.model + head_tensors * heads +
                      (ledger::input_matrices(config) + 1) * d.hidden;
  const Count a_token = Count(d.layers) * layer + Count(2) * d.model + d.vocab;
  return (Count(size.tokens) * size.batch * a_token * traits(size.dtype).bytes).n;
}

/// Bytes that training holds besides activations.
struct TrainingBytes {
  index_t weights = 0, gradients = 0, optimiser = 0, total = 0;
};

/// Mixed-precision AdamW, 16 bytes a parameter: bf16 weights and gradients (2 + 2), f32 master
/// weights and two moments (4 + 4 + 4; Rajbhandari et al. 2020, section 3.1). Throws ConfigError as
/// count_parameters.
constexpr TrainingBytes training_bytes(const Config& config) {
  const ledger::Count n = count_parameters(config).total;
  return {(n * 2).n, (n * 2).n, (n * 12).n, (n * 16).n};
}

/// What a forward pass is given.
struct ForwardSize {
  index_t tokens = 1;  ///< new tokens of one sequence
  index_t cached = 0;  ///< tokens before them, in the cache
  index_t logits = 1;  ///< positions whose logits are computed
};

/// Floating-point operations; a multiplication with its addition counts as two.
struct Flops {
  double projections = 0;  ///< query, key, value and output
  double attention = 0;    ///< q.k and the weighted sum of values
  double feed_forward = 0;
  double head = 0;
  double total = 0;
};

/// FLOPs of the matrix products of a forward pass: 2 a weight and token, and 4*Heads*HeadDim for
/// each key that a token sees (itself, those before it, in its window). Norms, softmax, RoPE and
/// activations, below 1 % at usual sizes, are left out. One token at a context of n keys is
/// {.tokens = 1, .cached = n - 1}, a prompt {.tokens = n}. Throws ConfigError as count_parameters.
constexpr Flops forward_flops(const Config& config, const ForwardSize& size) {
  const LayerParameters p = count_layer_parameters(config);
  config_check::positive("tokens", size.tokens);
  config_check::zero_or_more("cached", size.cached);
  if (size.logits < 0 || size.logits > size.tokens) {
    config_check::fail_size("logits", size.logits, "0 to tokens = " + std::to_string(size.tokens));
  }
  const Dims& d = config.dims;
  const double tokens = static_cast<double>(size.tokens), cached = static_cast<double>(size.cached);
  const double layers = static_cast<double>(d.layers);
  // Without a window a token sees all before it; with one, the first `growing` tokens see one key
  // more each, the others the whole window.
  const index_t unlimited = config.window == 0 ? d.layers : config.global_layers.count(d.layers);
  const double all_keys = tokens * cached + tokens * (tokens + 1) / 2;
  const double room = static_cast<double>(config.window) - cached;
  const double growing = room < 0 ? 0 : room < tokens ? room : tokens;
  const double window_keys = growing * cached + growing * (growing + 1) / 2 +
                             (tokens - growing) * static_cast<double>(config.window);
  const double keys = static_cast<double>(unlimited) * all_keys +
                      static_cast<double>(d.layers - unlimited) * window_keys;
  const double projections = static_cast<double>(p.query) + static_cast<double>(p.key) +
                             static_cast<double>(p.value) + static_cast<double>(p.output);
  Flops f;
  f.projections = 2 * layers * tokens * projections;
  f.attention = 4 * static_cast<double>(d.heads) * static_cast<double>(d.head_dim) * keys;
  f.feed_forward = 2 * layers * tokens * static_cast<double>(p.feed_forward);
  f.head = 2 * static_cast<double>(size.logits) * static_cast<double>(d.vocab) *
           static_cast<double>(d.model);
  f.total = f.projections + f.attention + f.feed_forward + f.head;
  return f;
}

}  // namespace imbrex::inline IMBREX_ABI
