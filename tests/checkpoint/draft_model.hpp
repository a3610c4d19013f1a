// A small llama model in the making: a GGUF file in memory, of which anything can be changed.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/formats/gguf_writer.hpp"

namespace imbrex::tests {

struct DraftTensor {
  GgufType type;
  std::vector<index_t> dims;
  std::vector<std::byte> bytes;
};

class DraftModel {
 public:
  static constexpr Dims dims{.layers = 2,
                             .vocab = 40,
                             .model = 32,
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 8,
                             .hidden = 64};

  /// Two blocks in F32, untied.
  DraftModel() {
    set("general.architecture", std::string("llama"));
    set("llama.block_count", std::uint32_t{2});
    set("llama.context_length", std::uint32_t{64});
    set("llama.embedding_length", std::uint32_t{32});
    set("llama.feed_forward_length", std::uint32_t{64});
    set("llama.attention.head_count", std::uint32_t{4});
    set("llama.attention.head_count_kv", std::uint32_t{2});
    set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    tensor("token_embd.weight", {32, 40});
    tensor("output_norm.weight", {32});
    tensor("output.weight", {32, 40});
    for (const std::string b : {"blk.0.", "blk.1."}) {
      tensor(b + "attn_norm.weight", {32});
      tensor(b + "attn_q.weight", {32, 32});
      tensor(b + "attn_k.weight", {32, 16});
      tensor(b + "attn_v.weight", {32, 16});
      tensor(b + "attn_output.weight", {32, 32});
      tensor(b + "ffn_norm.weight", {32});
      tensor(b + "ffn_gate.weight", {32, 64});
      tensor(b + "ffn_up.weight", {32, 64});
      tensor(b + "ffn_down.weight", {64, 32});
    }
  }

  template <class T>
  DraftModel& set(const std::string& key, const T& value) {
    keys[key] = [key, value](GgufWriter& writer) { writer.add(key, value); };
    return *this;
  }

  /// A tensor of small random numbers; one of that name is replaced. Types other than F32 get bytes
  /// of zeros.
  DraftModel& tensor(const std::string& name, std::vector<index_t> dims_of_tensor,
                     GgufType type = GgufType::f32) {
    std::array<index_t, 4> padded{1, 1, 1, 1};
    for (std::size_t i = 0; i < dims_of_tensor.size(); ++i) padded[i] = dims_of_tensor[i];
    DraftTensor t{type, std::move(dims_of_tensor), {}};
    t.bytes.resize(static_cast<std::size_t>(gguf_tensor_bytes(type, padded)));
    if (type == GgufType::f32) {
      for (std::size_t i = 0; i < t.bytes.size(); i += 4) {
        const float x = 0.25f * random_.normal();
        std::memcpy(&t.bytes[i], &x, 4);
      }
    }
    tensors[name] = std::move(t);
    return *this;
  }

  DraftModel& vector(const std::string& name, const std::vector<float>& values) {
    DraftTensor t{GgufType::f32, {static_cast<index_t>(values.size())}, {}};
    const auto bytes = std::as_bytes(std::span(values));
    t.bytes.assign(bytes.begin(), bytes.end());
    tensors[name] = std::move(t);
    return *this;
  }

  std::vector<std::byte> bytes() const {
    GgufWriter writer;
    for (const auto& [key, add] : keys) add(writer);
    for (const auto& [name, t] : tensors) writer.add_tensor(name, t.type, t.dims, t.bytes);
    return writer.to_bytes();
  }

  std::map<std::string, std::function<void(GgufWriter&)>> keys;
  std::map<std::string, DraftTensor> tensors;

 private:
  Random random_{1};
};

/// What is wrong with a model in the file's and the library's opinion; "nothing" where it can be
/// loaded, and then it computes something.
inline std::string complaint_of(std::span<const std::byte> bytes) {
  try {
    const Decoder<> decoder = load(GgufFile::parse(bytes, "draft.gguf"));
    Workspace workspace(decoder, 8);
    KvCache cache(decoder.config(), 8);
    const token_t tokens[] = {0, 1, 2};
    decoder.last_logits(workspace, cache, tokens);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

inline std::string complaint_of(const DraftModel& model) {
  const std::vector<std::byte> bytes = model.bytes();
  return complaint_of(bytes);
}

}  // namespace imbrex::tests
