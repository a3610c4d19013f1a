// The tensors of a checkpoint: name, shape, and when there is one, of every tensor, in one table.
#pragma once

#include <string>
#include <string_view>

#include "imbrex/model/config.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What a tensor is to the decoder.
enum class TensorPart : std::uint8_t {
  token_embedding,
  output_norm,
  output,
  rope_factors,
  attention_norm,
  q,
  k,
  v,
  out,
  q_bias,
  k_bias,
  v_bias,
  out_bias,
  q_norm,
  k_norm,
  ffn_norm,
  gate,
  up,
  down,
  gate_bias,
  up_bias,
  down_bias
};

/// The size of an axis of a tensor, by its name in the configuration. `none`: there is no such
/// axis.
enum class TensorAxis : std::uint8_t {
  none,
  vocab,
  model,
  heads,
  kv_heads,
  head_dim,
  hidden,
  rope_pairs
};

/// One kind of tensor. A matrix maps `in` to `out`; a vector has `out` alone. Tensors of a block
/// are called "blk.N." and the name.
struct TensorRow {
  TensorPart part;
  bool in_block;
  std::string_view name;
  TensorAxis out[2];
  TensorAxis in[2];
  bool (*wanted)(const Config&);  ///< required where it holds, an error where it does not

  /// Whether it maps something; a vector does not.
  constexpr bool is_matrix() const { return in[0] != TensorAxis::none; }
};

namespace tensor_table_detail {

constexpr bool always(const Config&) { return true; }
constexpr bool untied(const Config& c) { return !c.tie_embeddings; }
constexpr bool has_rope_factors(const Config& c) { return c.rope.stored_factors; }
constexpr bool has_qkv_bias(const Config& c) { return c.qkv_bias; }
constexpr bool has_output_bias(const Config& c) { return c.output_bias; }
constexpr bool has_ffn_bias(const Config& c) { return c.ffn_bias; }
constexpr bool has_qk_norm(const Config& c) { return c.qk_norm == QkNorm::per_head; }

using enum TensorPart;
using A = TensorAxis;
inline constexpr A no = A::none;

// clang-format off
inline constexpr TensorRow rows[] = {
    {token_embedding, false, "token_embd.weight",  {A::vocab, no},             {A::model, no}, always},
    {output_norm,     false, "output_norm.weight", {A::model, no},             {no, no},       always},
    {output,          false, "output.weight",      {A::vocab, no},             {A::model, no}, untied},
    {rope_factors,    false, "rope_freqs.weight",  {A::rope_pairs, no},        {no, no},       has_rope_factors},
    {attention_norm,  true,  "attn_norm.weight",   {A::model, no},             {no, no},       always},
    {q,               true,  "attn_q.weight",      {A::heads, A::head_dim},    {A::model, no}, always},
    {k,               true,  "attn_k.weight",      {A::kv_heads, A::head_dim}, {A::model, no}, always},
    {v,               true,  "attn_v.weight",      {A::kv_heads, A::head_dim}, {A::model, no}, always},
    {out,             true,  "attn_output.weight", {A::model, no},    {A::heads, A::head_dim}, always},
    {q_bias,          true,  "attn_q.bias",        {A::heads, A::head_dim},    {no, no},       has_qkv_bias},
    {k_bias,          true,  "attn_k.bias",        {A::kv_heads, A::head_dim}, {no, no},       has_qkv_bias},
    {v_bias,          true,  "attn_v.bias",        {A::kv_heads, A::head_dim}, {no, no},       has_qkv_bias},
    {out_bias,        true,  "attn_output.bias",   {A::model, no},             {no, no},       has_output_bias},
    {q_norm,          true,  "attn_q_norm.weight", {A::head_dim, no},          {no, no},       has_qk_norm},
    {k_norm,          true,  "attn_k_norm.weight", {A::head_dim, no},          {no, no},       has_qk_norm},
    {ffn_norm,        true,  "ffn_norm.weight",    {A::model, no},             {no, no},       always},
    {gate,            true,  "ffn_gate.weight",    {A::hidden, no},            {A::model, no}, always},
    {up,              true,  "ffn_up.weight",      {A::hidden, no},            {A::model, no}, always},
    {down,            true,  "ffn_down.weight",    {A::model, no},             {A::hidden, no}, always},
    {gate_bias,       true,  "ffn_gate.bias",      {A::hidden, no},            {no, no},       has_ffn_bias},
    {up_bias,         true,  "ffn_up.bias",        {A::hidden, no},            {no, no},       has_ffn_bias},
    {down_bias,       true,  "ffn_down.bias",      {A::model, no},             {no, no},       has_ffn_bias},
};
// clang-format on

}  // namespace tensor_table_detail

/// Every kind of tensor that a GGUF file of a Llama-shaped decoder can hold.
inline constexpr auto& tensor_table = tensor_table_detail::rows;

/// The row of a part.
constexpr const TensorRow& row_of(TensorPart part) { return tensor_table[static_cast<int>(part)]; }
static_assert(
    [] {
      int i = 0;
      for (const TensorRow& row : tensor_table) {
        if (static_cast<int>(row.part) != i++) return false;
      }
      return true;
    }(),
    "the rows of the table stand in the order of TensorPart");

/// The size of an axis in a configuration; 1 for none.
constexpr index_t size_of(TensorAxis axis, const Config& config) {
  switch (axis) {
    case TensorAxis::none:
      return 1;
    case TensorAxis::vocab:
      return config.dims.vocab;
    case TensorAxis::model:
      return config.dims.model;
    case TensorAxis::heads:
      return config.dims.heads;
    case TensorAxis::kv_heads:
      return config.dims.kv_heads;
    case TensorAxis::head_dim:
      return config.dims.head_dim;
    case TensorAxis::hidden:
      return config.dims.hidden;
    case TensorAxis::rope_pairs:
      return rotary_dims(config) / 2;
  }
  return 1;
}

/// The name of an axis in errors.
constexpr const char* name(TensorAxis axis) {
  constexpr const char* names[] = {"",        "Vocab",   "Model",  "Heads",
                                   "KvHeads", "HeadDim", "Hidden", "RopePairs"};
  return names[static_cast<int>(axis)];
}

}  // namespace imbrex::inline IMBREX_ABI
