// The sizes of a decoder: what the types of its weights are made of.
#pragma once

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The sizes that decide every matrix shape of a decoder. Structural, so it is a template argument
/// (`Decoder<presets::llama2_7b.dims>`); `dyn` stands for a size known at run time only.
struct Dims {
  index_t layers = dyn;    ///< blocks
  index_t vocab = dyn;     ///< rows of the embedding (may exceed the tokenizer's tokens)
  index_t model = dyn;     ///< width of the residual stream
  index_t heads = dyn;     ///< query heads
  index_t kv_heads = dyn;  ///< key and value heads: = heads for MHA, 1 for MQA, between for GQA
  index_t head_dim = dyn;  ///< width of a head; heads * head_dim need not equal model
  index_t hidden = dyn;    ///< width of the feed-forward layer

  friend constexpr bool operator==(const Dims&, const Dims&) = default;
};

/// A field of Dims, for code that goes through all of them.
struct DimsField {
  const char* name;
  index_t Dims::* size;
};

/// Every field of Dims, in order.
inline constexpr DimsField dims_fields[] = {
    {"layers", &Dims::layers}, {"vocab", &Dims::vocab},       {"model", &Dims::model},
    {"heads", &Dims::heads},   {"kv_heads", &Dims::kv_heads}, {"head_dim", &Dims::head_dim},
    {"hidden", &Dims::hidden},
};

/// Whether every size is known.
constexpr bool is_static(const Dims& dims) {
  for (const DimsField& field : dims_fields) {
    if (dims.*field.size == dyn) return false;
  }
  return true;
}

/// The first field in which `sizes` contradicts `pattern` (a `dyn` of the pattern takes any size),
/// or null when there is none.
constexpr const DimsField* first_mismatch(const Dims& pattern, const Dims& sizes) {
  for (const DimsField& field : dims_fields) {
    if (pattern.*field.size != dyn && pattern.*field.size != sizes.*field.size) return &field;
  }
  return nullptr;
}

}  // namespace imbrex::inline IMBREX_ABI
