// The examples `inspect`, `memory_ledger` and `shape_trace` with SmolLM2-135M-Instruct.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/model_file.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

ProgramRun run(const std::string& program, const std::vector<std::string>& words) {
  return run_program(IMBREX_EXAMPLES + program, words);
}

bool has(const ProgramRun& run, const std::string& text) {
  return run.out.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("inspect: SmolLM2 holds the parameters that were published") {
  const std::string model = model_file();
  if (model.empty()) return;
  const ProgramRun listing = run("inspect", {model});
  CHECK(listing.code == 0);
  CHECK(has(listing, "tokenizer.ggml.tokens"));
  CHECK(has(listing, "ARRAY of 49152 STRING"));
  CHECK(has(listing, "29 blocks like blk.0"));
  CHECK(has(listing, "Parameters by the metadata: 134,515,008, as many as the tensors hold."));
}

TEST_CASE("memory_ledger: SmolLM2's weights are those of its file") {
  const std::string model = model_file();
  if (model.empty()) return;
  const ProgramRun ledger = run("memory_ledger", {model});
  CHECK(ledger.code == 0);
  // Blocks in Q4_1, the embedding in Q8_0: 106,168,320 x 20/32 + 28,311,552 x 34/32 + 35,136 x 4.
  CHECK(has(ledger, "96,576,768\n"));
}

TEST_CASE("shape_trace: SmolLM2, all blocks of the file") {
  const std::string model = model_file();
  if (model.empty()) return;
  const ProgramRun trace = run("shape_trace", {model, "--tokens", "7"});
  CHECK(trace.code == 0);
  CHECK(has(trace, "7 tokens through all 30 blocks"));
  CHECK(has(trace, "blk.0.q[Time=7, Heads=9, HeadDim=64]"));
  CHECK(has(trace, "logits[Time=1, Vocab=49152]"));
}
