#include "imbrex/checkpoint/gguf_weights.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/checkpoint/draft_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

std::vector<float> floats(const DraftTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / 4);
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

template <class W>
std::vector<float> floats(const W& weight) {
  std::vector<float> values(static_cast<std::size_t>(weight.bytes() / 4));
  std::memcpy(values.data(), weight.data(), static_cast<std::size_t>(weight.bytes()));
  return values;
}

}  // namespace

TEST_CASE("weights: every tensor comes to its place") {
  DraftModel model;
  model.vector("rope_freqs.weight", {1, 2, 3, 4});
  for (const std::string b : {"blk.0.", "blk.1."}) {
    model.tensor(b + "attn_q.bias", {32}).tensor(b + "attn_k.bias", {16});
    model.tensor(b + "attn_v.bias", {16}).tensor(b + "attn_output.bias", {32});
    model.tensor(b + "ffn_gate.bias", {64}).tensor(b + "ffn_up.bias", {64});
    model.tensor(b + "ffn_down.bias", {32});
  }
  const std::vector<std::byte> bytes = model.bytes();
  const GgufFile file = GgufFile::parse(bytes, "draft.gguf");
  const Config config = config_from_gguf(file);
  const DecoderWeights weights = read_gguf_weights(file, config);
  const auto stored = [&](const std::string& name) { return floats(model.tensors.at(name)); };
  CHECK(floats(weights.embedding) == stored("token_embd.weight"));
  CHECK(floats(weights.head) == stored("output.weight"));
  CHECK(weights.norm == stored("output_norm.weight"));
  CHECK(weights.rope_factors == std::vector<float>{1, 2, 3, 4});
  REQUIRE(weights.blocks.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string b = "blk." + std::to_string(i) + ".";
    const BlockWeights& w = weights.blocks[i];
    CHECK(w.attention_norm == stored(b + "attn_norm.weight"));
    CHECK(floats(w.q) == stored(b + "attn_q.weight"));
    CHECK(floats(w.k) == stored(b + "attn_k.weight"));
    CHECK(floats(w.v) == stored(b + "attn_v.weight"));
    CHECK(floats(w.out) == stored(b + "attn_output.weight"));
    CHECK(w.q_bias == stored(b + "attn_q.bias"));
    CHECK(w.k_bias == stored(b + "attn_k.bias"));
    CHECK(w.v_bias == stored(b + "attn_v.bias"));
    CHECK(w.out_bias == stored(b + "attn_output.bias"));
    CHECK(w.ffn_norm == stored(b + "ffn_norm.weight"));
    CHECK(floats(w.gate) == stored(b + "ffn_gate.weight"));
    CHECK(floats(w.up) == stored(b + "ffn_up.weight"));
    CHECK(floats(w.down) == stored(b + "ffn_down.weight"));
    CHECK(w.gate_bias == stored(b + "ffn_gate.bias"));
    CHECK(w.up_bias == stored(b + "ffn_up.bias"));
    CHECK(w.down_bias == stored(b + "ffn_down.bias"));
    CHECK(w.q_norm.empty());
    CHECK(w.attention_post_norm.empty());
    CHECK(w.q.sizes()[0] == 4);
    CHECK(w.q.sizes()[1] == 8);
    CHECK(w.k.sizes()[0] == 2);
    CHECK(w.out.rows() == 32);
    CHECK(w.down.cols() == 64);
  }
}

TEST_CASE("weights: vectors in 16 bits become floats") {
  DraftModel model;
  model.tensor("output_norm.weight", {32}, GgufType::bf16);
  model.tensor("blk.0.attn_norm.weight", {32}, GgufType::f16);
  for (std::size_t i = 0; i < 32; ++i) {  // 2.5: 0x4020 as bf16; 0x4100 as f16
    model.tensors.at("output_norm.weight").bytes[2 * i] = std::byte{0x20};
    model.tensors.at("output_norm.weight").bytes[2 * i + 1] = std::byte{0x40};
    model.tensors.at("blk.0.attn_norm.weight").bytes[2 * i + 1] = std::byte{0x41};
  }
  const std::vector<std::byte> bytes = model.bytes();
  const GgufFile file = GgufFile::parse(bytes, "draft.gguf");
  const DecoderWeights weights = read_gguf_weights(file, config_from_gguf(file));
  CHECK(weights.norm == std::vector<float>(32, 2.5f));
  CHECK(weights.blocks[0].attention_norm == std::vector<float>(32, 2.5f));
}

TEST_CASE("weights: the place that a name says") {
  const auto place = [](std::string_view name) {
    const gguf_weights::TensorPlace p = gguf_weights::place_of(name);
    return p.row == nullptr ? std::string("nowhere")
                            : std::string(p.row->name) + " of " + std::to_string(p.block);
  };
  CHECK(place("token_embd.weight") == "token_embd.weight of -1");
  CHECK(place("blk.0.attn_q.weight") == "attn_q.weight of 0");
  CHECK(place("blk.123.ffn_down.bias") == "ffn_down.bias of 123");
  for (const char* name :
       {"", "blk", "blk.", "blk.1", "blk.1.", "blk.01.attn_q.weight", "blk.-0.attn_q.weight",
        "blk. 1.attn_q.weight", "blk.1attn_q.weight", "blk.9223372036854775808.attn_q.weight",
        "blk.1.output.weight", "attn_q.weight", "token_embd", "token_embd.weight "}) {
    CAPTURE(name);
    CHECK(place(name) == "nowhere");
  }
}

TEST_CASE("weights: the same file for another configuration") {
  DraftModel model;
  const std::vector<std::byte> bytes = model.bytes();
  const GgufFile file = GgufFile::parse(bytes, "draft.gguf");
  Config config = config_from_gguf(file);
  config.tie_embeddings = true;
  CHECK_THROWS_WITH_AS(read_gguf_weights(file, config),
                       "draft.gguf: unknown tensor (output.weight): expected tensors of a llama "
                       "decoder of 2 blocks, got output.weight",
                       FormatError);
  config.tie_embeddings = false;
  config.dims.heads = 2;
  config.dims.head_dim = 16;
  config.dims.kv_heads = 1;
  CHECK_NOTHROW(
      read_gguf_weights(file, config));  // as many rows: a file does not say how they group
  config.qk_norm = QkNorm::per_head;
  CHECK_THROWS_WITH_AS(read_gguf_weights(file, config),
                       "draft.gguf: missing tensor (blk.0.attn_q_norm.weight)", FormatError);
}
