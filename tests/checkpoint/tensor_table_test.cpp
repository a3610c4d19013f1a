#include "imbrex/checkpoint/tensor_table.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"

using namespace imbrex;

namespace {

constexpr index_t elements(const TensorRow& row, const Config& config) {
  return size_of(row.out[0], config) * size_of(row.out[1], config) * size_of(row.in[0], config) *
         size_of(row.in[1], config);
}

/// The numbers of all tensors that the table wants of a model.
constexpr index_t total(const Config& config) {
  index_t sum = 0;
  for (const TensorRow& row : tensor_table) {
    if (!row.wanted(config)) continue;
    sum += elements(row, config) * (row.in_block ? config.dims.layers : 1);
  }
  return sum;
}

}  // namespace

// Published totals, by way of the ledger, which is checked against them.
static_assert(total(presets::llama2_7b) == 6'738'415'616);
static_assert(total(presets::smollm2_135m) == 134'515'008);

TEST_CASE("tensor table: the tensors of every preset add up to its parameters") {
  for (const presets::Preset& preset : presets::all) {
    CAPTURE(preset.name);
    CHECK(total(preset.config) == count_parameters(preset.config).total);
  }
}

TEST_CASE("tensor table: biases and factors are there when the configuration has them") {
  Config config = presets::smollm2_135m;
  const index_t plain = total(config);
  config.qkv_bias = true;
  CHECK(total(config) == plain + 30 * (576 + 2 * 192));
  config.output_bias = true;
  CHECK(total(config) == plain + 30 * (2 * 576 + 2 * 192));
  config.ffn_bias = true;
  CHECK(total(config) == plain + 30 * (3 * 576 + 2 * 192 + 2 * 1536));
  config.rope.stored_factors = true;
  CHECK(total(config) == plain + 30 * (3 * 576 + 2 * 192 + 2 * 1536) + 32);
  config.rope.rotary_dims = 16;
  CHECK(total(config) == plain + 30 * (3 * 576 + 2 * 192 + 2 * 1536) + 8);
}

TEST_CASE("tensor table: every name once, and matrices have inputs") {
  std::set<std::string_view> names;
  for (const TensorRow& row : tensor_table) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK((row.name.ends_with(".weight") || row.name.ends_with(".bias")));
    CHECK(row.out[0] != TensorAxis::none);
    CHECK(&row_of(row.part) == &row);
    if (!row.is_matrix()) CHECK(row.in[1] == TensorAxis::none);
  }
  CHECK(names.size() == 22);
}

// The names are llama.cpp's, and the sizes those of SmolLM2's file as the Python package `gguf`
// lists them: token_embd 576 x 49152, attn_k 576 x 192, ffn_down 1536 x 576.
TEST_CASE("tensor table: SmolLM2's rows") {
  const auto shape = [](TensorPart part) {
    const TensorRow& row = row_of(part);
    const Config& c = presets::smollm2_135m;
    return std::string(row.name) + " " +
           std::to_string(size_of(row.in[0], c) * size_of(row.in[1], c)) + " x " +
           std::to_string(size_of(row.out[0], c) * size_of(row.out[1], c));
  };
  CHECK(shape(TensorPart::token_embedding) == "token_embd.weight 576 x 49152");
  CHECK(shape(TensorPart::k) == "attn_k.weight 576 x 192");
  CHECK(shape(TensorPart::out) == "attn_output.weight 576 x 576");
  CHECK(shape(TensorPart::down) == "ffn_down.weight 1536 x 576");
  CHECK(shape(TensorPart::attention_norm) == "attn_norm.weight 1 x 576");
}
