// examples/random_model.hpp and examples/machine_limits.hpp: what programs that measure time stand
// on.
#include "examples/random_model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "examples/machine_limits.hpp"

using namespace imbrex;

namespace {

constexpr Config tiny{.dims = {.layers = 2,
                               .vocab = 100,
                               .model = 64,
                               .heads = 4,
                               .kv_heads = 2,
                               .head_dim = 16,
                               .hidden = 96},
                      .tie_embeddings = false};

}  // namespace

TEST_CASE("random_model: every matrix has bytes of its own, and logits are numbers that differ") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::q8_0, Dtype::q4_0}) {
    CAPTURE(name(dtype));
    const Decoder<> decoder = examples::random_decoder(tiny, dtype);
    const auto first = decoder.block(0), second = decoder.block(1);
    CHECK(first.attention.q.weight().data() != second.attention.q.weight().data());
    CHECK(first.attention.k.weight().data() != first.attention.v.weight().data());
    CHECK(first.ffn.gate.weight().data() != first.ffn.up.weight().data());
    CHECK(decoder.embedding().table().data() != decoder.head().weight().data());
    CHECK(first.ffn.down.weight().dtype() == dtype);

    Workspace workspace(decoder, 4);
    KvCache cache(decoder.config(), 4);
    const std::vector<token_t> tokens{1, 2, 99};
    const auto logits = decoder.last_logits(workspace, cache, tokens);
    double squares = 0;
    for (index_t i = 0; i < 100; ++i) squares += std::pow(static_cast<double>(logits(i)), 2);
    // The head keeps the variance of a normed row, which is 1; with 64 different rows of 64 numbers
    // each, the mean of 100 squares is nowhere near 0 or 10.
    CHECK(squares / 100 > 0.1);
    CHECK(squares / 100 < 10);
    CHECK(logits(0) != logits(1));
  }
}

TEST_CASE("machine_limits: each is a positive number") {
  CHECK(examples::measure_read_bandwidth(index_t{1} << 20, 2) > 0);
  CHECK(examples::measure_fma_peak(2) > 0);
  CHECK(examples::measure_matmul(64, 2) > 0);
  double runs = 0;
  CHECK(examples::fastest(3, [&] { ++runs; }) >= 0);
  CHECK(runs == 3);
}
