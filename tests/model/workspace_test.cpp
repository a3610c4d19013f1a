#include "imbrex/model/workspace.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/model/tiny_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

Decoder<> tiny(const std::string& name) { return load(tiny_path(name + ".gguf")); }

}  // namespace

TEST_CASE("workspace: what it is for, and its bytes") {
  const Decoder<> decoder = tiny("wide");
  const Workspace workspace(decoder, 32, 2);
  CHECK(workspace.rows() == 32);
  CHECK(workspace.dims() == wide_dims);
  // Residual and last rows, a norm's and a sublayer's result; queries, keys, values, the attended;
  // gate and up. All are multiples of 16 floats here.
  const index_t floats = 32 * (4 * 96 + 128 + 32 + 32 + 128 + 2 * 160);
  constexpr index_t segment = sizeof(Segment);  // of the sequences in a chunk, as many as logits
  CHECK(workspace.bytes() == 4 * floats + 4 * 2 * 320 + 32 * (4 + 8) + 2 * segment);
  // Rows of activations cost the same each; the default is 256.
  CHECK(Workspace(decoder).rows() == 256);
  CHECK(Workspace(decoder, 64, 2).bytes() - workspace.bytes() == 4 * floats + 32 * 12);
}

TEST_CASE("workspace: room for logits grows when it is asked for, and stays") {
  const Decoder<> decoder = tiny("f32");
  Workspace workspace(decoder, 8);
  const index_t before = workspace.bytes();
  workspace.reserve_logits(1);
  CHECK(workspace.bytes() == before);
  workspace.reserve_logits(5);
  CHECK(workspace.bytes() == before + 4 * 4 * 320);
  const float* logits = workspace.logits();
  workspace.reserve_logits(3);
  CHECK(workspace.logits() == logits);
  constexpr index_t most = (std::numeric_limits<index_t>::max)();
  CHECK(complaint<CapacityError>([&] { workspace.reserve_logits(most / 4); }) ==
        "workspace: 2305843009213693951 rows of logits do not fit");
  CHECK(complaint<CapacityError>([&] { workspace.reserve_logits(-1); }) ==
        "workspace: -1 rows of logits do not fit");
  CHECK_THROWS_AS(workspace.reserve_logits(most / 320 / 8), CapacityError);
  CHECK(workspace.logits() == logits);
  CHECK(workspace.bytes() == before + 4 * 4 * 320);
}

TEST_CASE("workspace: room for sequences, at most one a row") {
  const Decoder<> decoder = tiny("f32");
  Workspace workspace(decoder, 8);
  const index_t before = workspace.bytes();
  constexpr index_t segment = sizeof(Segment);
  workspace.reserve_sequences(1);
  CHECK(workspace.bytes() == before);
  workspace.reserve_sequences(3);
  CHECK(workspace.bytes() == before + 2 * segment);
  workspace.reserve_sequences((std::numeric_limits<index_t>::max)());
  CHECK(workspace.bytes() == before + 7 * segment);
  workspace.reserve_sequences(2);
  CHECK(workspace.bytes() == before + 7 * segment);
}

TEST_CASE("workspace: rows that cannot be") {
  const Decoder<> decoder = tiny("f32");
  CHECK(complaint<ShapeError>([&] { Workspace(decoder, 0); }) ==
        "workspace: expected 1 row or more, got 0");
  CHECK(complaint<ShapeError>([&] { Workspace(decoder, -3); }) ==
        "workspace: expected 1 row or more, got -3");
  constexpr index_t most = (std::numeric_limits<index_t>::max)();
  CHECK(complaint([&] { Workspace(decoder, most); }) != "nothing");
  CHECK_THROWS_AS(Workspace(decoder, most / 10000), CapacityError);
}

TEST_CASE("workspace: it serves every decoder of the same sizes") {
  const Decoder<> decoder = tiny("wide");
  const Decoder<wide_dims> fixed = load<wide_dims>(tiny_path("wide.gguf"));
  Workspace workspace(fixed, 8);
  const Tokens tokens = {3, 1, 4};
  KvCache cache(decoder.config(), 3), other(decoder.config(), 3);
  const std::vector<float> a = numbers(decoder.all_logits(workspace, cache, tokens));
  const std::vector<float> b = numbers(fixed.all_logits(workspace, other, tokens));
  CHECK(different_bits(a, b) == "");
}

TEST_CASE("workspace: what a pass left there does not show in the next") {
  const Decoder<> decoder = tiny("mixed");
  const Tokens tokens = {7, 8, 9};
  Workspace workspace(decoder, 8), fresh(decoder, 8);
  Arena arena;
  decoder.scratch(arena, 8);
  for (index_t i = 0; i < arena.used(); ++i) workspace.memory()[i] = std::nanf("");
  for (index_t i = 0; i < 320; ++i) workspace.logits()[i] = std::nanf("");
  KvCache cache(decoder.config(), 3), other(decoder.config(), 8);
  // The same for positions of a cache that nobody has counted as held.
  for (index_t layer = 0; layer < 2; ++layer) {
    for (const auto& view : {other.keys(layer, 8), other.values(layer, 8)}) {
      for (index_t i = 0; i < view.count(); ++i) view.data()[i] = std::nanf("");
    }
  }
  CHECK(different_bits(numbers(decoder.last_logits(workspace, other, tokens)),
                       numbers(decoder.last_logits(fresh, cache, tokens))) == "");
}
