#include "imbrex/model/chunks.hpp"

#include <doctest/doctest.h>

#include "tests/model/tiny_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

constexpr Dims dims = f32_dims;

/// Chunks as text, "0:0+3@5. 1:3+1@0 |": sequence, first row, rows, position of the first, and a
/// full stop where the sequence ends; a stroke after each chunk.
std::string walk(const std::vector<SequenceInput>& inputs, Workspace& workspace, Tokens& tokens,
                 std::vector<index_t>& positions) {
  Chunks chunks(inputs, workspace);
  std::ostringstream text;
  while (true) {
    const index_t rows = chunks.next([&](const Chunks::Run& run) {
      text << run.sequence << ":" << run.first << "+" << run.rows << "@" << run.start
           << (run.ends ? ". " : " ");
    });
    if (rows == 0) return text.str();
    text << "| ";
    tokens.insert(tokens.end(), workspace.tokens(), workspace.tokens() + rows);
    positions.insert(positions.end(), workspace.positions(), workspace.positions() + rows);
  }
}

Config config() {
  Config c;
  c.dims = dims;
  return c;
}

}  // namespace

TEST_CASE("chunks: sequences are laid end to end and cut at the workspace's rows") {
  const Decoder<> decoder = load(tiny_path("f32.gguf"));
  const Tokens a = {10, 11, 12}, b = {20}, c = {30, 31, 32, 33, 34, 35};
  KvCache first(config(), 20), second(config(), 20), third(config(), 20);
  second.append(7);
  const std::vector<SequenceInput> inputs = {{a, &first}, {b, &second}, {c, &third}};
  const auto cut = [&](index_t rows) {
    Workspace workspace(decoder, rows);
    Tokens tokens;
    std::vector<index_t> positions;
    const std::string text = walk(inputs, workspace, tokens, positions);
    CHECK(tokens == Tokens{10, 11, 12, 20, 30, 31, 32, 33, 34, 35});
    CHECK(positions == std::vector<index_t>{0, 1, 2, 7, 0, 1, 2, 3, 4, 5});
    return text;
  };
  CHECK(cut(100) == "0:0+3@0. 1:3+1@7. 2:4+6@0. | ");
  CHECK(cut(10) == "0:0+3@0. 1:3+1@7. 2:4+6@0. | ");
  CHECK(cut(4) == "0:0+3@0. 1:3+1@7. | 2:0+4@0 | 2:0+2@4. | ");
  CHECK(cut(3) == "0:0+3@0. | 1:0+1@7. 2:1+2@0 | 2:0+3@2 | 2:0+1@5. | ");
  CHECK(cut(2) == "0:0+2@0 | 0:0+1@2. 1:1+1@7. | 2:0+2@0 | 2:0+2@2 | 2:0+2@4. | ");
  CHECK(cut(1).size() > 10);
}

TEST_CASE("chunks: none of nothing") {
  const Decoder<> decoder = load(tiny_path("f32.gguf"));
  Workspace workspace(decoder, 4);
  Tokens tokens;
  std::vector<index_t> positions;
  CHECK(walk({}, workspace, tokens, positions) == "");
}

TEST_CASE("inputs: how many tokens, and what can be wrong") {
  KvCache cache(config(), 4), other(config(), 4);
  const Tokens tokens = {1, 2, 3}, one = {319};
  const auto check = [](std::vector<SequenceInput> inputs) { return check_inputs(inputs, dims); };
  CHECK(check({}) == 0);
  CHECK(check({{tokens, &cache}, {one, &other}}) == 4);
  CHECK(complaint<ShapeError>([&] { check({{one, &cache}, {{}, &other}}); }) ==
        "sequence 1: expected 1 token or more, got none");
  CHECK(complaint<ShapeError>([&] { check({{one, nullptr}}); }) == "sequence 0: no cache");
  CHECK(complaint<ShapeError>([&] { check({{one, &cache}, {one, &other}, {one, &cache}}); }) ==
        "sequences 0 and 2: each must have a cache of its own");
  CHECK(complaint<TokenError>([&] { check({{one, &cache}, {Tokens{0, 320}, &other}}); }) ==
        "token 320 at position 1: expected 0 to 319");
  other.append(2);
  CHECK(complaint<CapacityError>([&] { check({{one, &cache}, {tokens, &other}}); }) ==
        "sequence 1: expected at most 2 tokens (the cache holds 2 of 4), got 3");
  Config wider = config();
  wider.dims.layers = 3;
  KvCache foreign(wider, 4);
  CHECK(complaint<ShapeError>([&] { check({{one, &foreign}}); }) ==
        "forward: the cache must have been made for a decoder of the same sizes: "
        "cache[Layers=3, KvHeads=2, HeadDim=16], decoder[Layers=2, KvHeads=2, HeadDim=16]");
}
