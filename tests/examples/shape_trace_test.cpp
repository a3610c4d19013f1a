// The example `shape_trace`, run as a user runs it.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

ProgramRun trace(const Words& words) { return run_program(IMBREX_EXAMPLES "shape_trace", words); }

std::string complaint(const Words& words) { return one_line_error(trace(words), "shape_trace"); }

/// The line of step `number`; "" where there is none.
std::string step(const std::string& out, int number) {
  std::istringstream lines(out);
  std::string start = number < 10 ? " " : "";
  start.append(std::to_string(number)).append("  ");
  for (std::string line; std::getline(lines, line);) {
    if (line.find(start) == 0) return line;
  }
  return "";
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

}  // namespace

TEST_CASE("shape_trace: the 17 steps of Llama 2 7B") {
  const ProgramRun run = trace({"--tokens", "3"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(has(run.out, "llama-2-7b: 3 tokens through 1 of 32 blocks"));
  // The notes' table, at N = 3: what each step makes.
  const char* shapes[17] = {
      "(3, 4096)",  "(3, 4096)",  "(3, 4096)",    "(3, 32, 128)", "(3, 32, 128)", "(32, 3, 3)",
      "(32, 3, 3)", "(32, 3, 3)", "(32, 3, 128)", "(3, 4096)",    "(3, 4096)",    "(3, 4096)",
      "(3, 4096)",  "(3, 11008)", "(3, 11008)",   "(3, 4096)",    "(3, 4096)"};
  for (int i = 0; i < 17; ++i) {
    CAPTURE(i);
    CHECK(has(step(run.out, i + 1), shapes[i]));
  }
  CHECK(step(run.out, 18) == "");
  // Static sizes in the brackets of their types, those of run time behind a sign.
  CHECK(has(step(run.out, 3), "blk.0.q[Time=3, Heads<32>, HeadDim<128>]"));
  CHECK(has(step(run.out, 6), "[Heads<32>, Time=3, Keys=3], 1.12 KiB, never stored"));  // 288 x 4
  CHECK(has(step(run.out, 9), "blk.0.attended[Time=3, Heads<32>, HeadDim<128>]"));
  CHECK(has(step(run.out, 15), "blk.0.ffn_hidden[Time=3, Hidden<11008>]"));
  CHECK(has(step(run.out, 17), "blk.0.ffn_residual[Time=3, Model<4096>]"));
  CHECK(has(run.out, " logits[Time=1, Vocab<32000>]"));
  CHECK(!has(run.out, "of another size"));
}

TEST_CASE("shape_trace: several sequences, all blocks, grouped heads") {
  const ProgramRun run = trace({"smollm2-135m", "--tokens", "5", "--batch", "2", "--layers", "30"});
  CHECK(run.code == 0);
  CHECK(has(run.out, "smollm2-135m: 2 sequences of 5 tokens through all 30 blocks"));
  CHECK(has(step(run.out, 1), "(2, 5, 576)"));
  CHECK(has(step(run.out, 1), "embedding[Time=10, Model<576>]"));
  CHECK(has(run.out, "(2, 5, 192)    blk.0.k[Time=10, KvHeads<3>, HeadDim<64>]"));
  CHECK(has(run.out, " logits[Time=2, Vocab<49152>]"));
}

TEST_CASE("shape_trace: heads that are not as wide as the model, and biases, and norms of heads") {
  // Qwen3 0.6B: 16 heads of 128 on a width of 1024. Qwen2.5 0.5B has biases.
  const ProgramRun qwen3 = trace({"qwen3-0.6b", "--tokens", "2"});
  CHECK(qwen3.code == 0);
  CHECK(has(step(qwen3.out, 3), "(2, 2048)"));
  CHECK(has(step(qwen3.out, 11), "blk.0.attn_out[Time=2, Model<1024>]"));
  CHECK(trace({"qwen2.5-0.5b", "--tokens", "2"}).code == 0);
}

TEST_CASE("shape_trace: a file's sizes are all of run time") {
  const ProgramRun run = trace({IMBREX_GOLDEN_DIR "/tiny/f32.gguf"});
  CHECK(run.code == 0);
  CHECK(has(run.out, "16 tokens through all 2 blocks"));
  CHECK(has(step(run.out, 3), "(16, 64)"));
  CHECK(has(step(run.out, 3), "blk.0.q[Time=16, Heads=4, HeadDim=16]"));
  CHECK(has(step(run.out, 6), "[Heads=4, Time=16, Keys=16], 4 KiB"));
  CHECK(!has(run.out, "<"));
}

TEST_CASE("shape_trace: --help, and what it does not know") {
  const ProgramRun help = trace({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: shape_trace") == 0);
  CHECK(has(complaint({"llama-2-7c"}), "no preset is called 'llama-2-7c'"));
  CHECK(has(complaint({"--bogus"}), "'--bogus'"));
  CHECK(has(complaint({"llama-2-7b", "more"}), "'more'"));
  CHECK(has(complaint({"--tokens", "0"}), "--tokens: expected 1 to"));
  CHECK(has(complaint({"--tokens", "x"}), "--tokens: expected a whole number"));
  CHECK(has(complaint({"--batch"}), "--batch: expected a value"));
  CHECK(has(complaint({"--layers", "33"}), "--layers: expected at most 32, got 33"));
  CHECK(has(complaint({IMBREX_GOLDEN_DIR "/tiny/f32.gguf", "--layers", "1"}), "--layers"));
  CHECK(has(complaint({"missing.gguf"}), "missing.gguf"));
}
