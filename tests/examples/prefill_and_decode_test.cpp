// The example `prefill_and_decode`, run as a user runs it. What is counted has values worked out
// here; what is measured has none, and only must be there.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/examples/well_formed.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

const std::string program = IMBREX_EXAMPLES "prefill_and_decode";

/// What stands behind a row's name.
Words row_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size() + 1, name + " ") != 0) continue;
    std::istringstream words(line.substr(name.size()));
    Words result;
    for (std::string word; words >> word;) result.push_back(word);
    return result;
  }
  return {};
}

}  // namespace

// SmolLM2 135M: D = 576, 9 heads and 3 key heads of 64, F = 1536, 30 layers, V = 49152, tied.
//   matrices: 30 (2 576^2 + 2 576 192 + 3 576 1536) = 106168320, head 49152 576 = 28311552
//   norms:    61 * 576 in f32 = 140544 bytes
//   cache:    2 * 30 * 3 * 64 * 4 = 46080 bytes a token
// decode at 512 tokens:
//   2 (106168320 + 28311552) + 4 * 576 * 513 * 30 = 304.418304 MFLOP
//   2 (106168320 + 28311552) + 140544 + 513 * 46080 + 46080 = 292.785408 MB, 1.040 FLOP a byte
// prefill of 512:
//   (2 (512 * 106168320 + 28311552) + 4 * 576 * 30 * 512 * 513 / 2) / 512 = 230.177 MFLOP
//   (269100288 + 2 * 512 * 46080) / 512 = 0.617746 MB, 372.607 FLOP a byte
TEST_CASE("prefill_and_decode: what is counted of a preset") {
  const ProgramRun run = run_program(program, {"--counts"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(run.out.find("smollm2-135m in BF16: 256.63 MiB of weights, 45 KiB of keys and values") ==
        0);
  CHECK(row_of(run.out, "tokens of the pass") == Words{"512", "1"});
  CHECK(row_of(run.out, "tokens before it") == Words{"0", "512"});
  CHECK(row_of(run.out, "MFLOP a token") == Words{"230.177", "304.418"});
  CHECK(row_of(run.out, "MB a token") == Words{"0.618", "292.785"});
  CHECK(row_of(run.out, "FLOP a byte") == Words{"372.607", "1.040"});
  CHECK(row_of(run.out, "GB/s").empty());
}

// Llama 2 7B in Q4_0, 18 bytes for 32 weights; untied, so the embedding is not read:
//   matrices: 32 (4 4096^2 + 3 4096 11008) = 6476005376, head 32000 4096 = 131072000
//   decode at 1024: 2 * 6607077376 + 4 * 4096 * 1025 * 32 = 13751.549952 MFLOP
//   6607077376 * 18 / 32 + 65 * 4096 * 4 + 1026 * 2 * 32 * 32 * 128 * 4 = 4793.384960 MB, 2.869
TEST_CASE("prefill_and_decode: an embedding that is not the head is not read") {
  const ProgramRun run =
      run_program(program, {"llama-2-7b", "--counts", "--dtype", "Q4_0", "--prompt", "1024"});
  CHECK(run.code == 0);
  CHECK(row_of(run.out, "MFLOP a token").at(1) == "13751.550");
  CHECK(row_of(run.out, "MB a token").at(1) == "4793.385");
  CHECK(row_of(run.out, "FLOP a byte").at(1) == "2.869");
}

// golden/tiny/f32: 69952 numbers of 4 bytes, tied; two layers of two key heads of 16, so that a
// token's keys and values are 2 * 2 * 2 * 16 * 4 = 512 bytes. mixed is untied.
TEST_CASE("prefill_and_decode: a file, run and measured") {
  const ScratchDirectory directory;
  const std::string path = directory / "roof.svg";
  const ProgramRun run =
      run_program(program, {IMBREX_GOLDEN_DIR "/tiny/f32.gguf", "--prompt", "8", "--svg", path});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(row_of(run.out, "MB a token") ==
        Words{"0.036", "0.285"});  // (279808 + 8192) / 8, 279808 + 5120
  for (const char* name : {"ms a token", "tokens a second", "GFLOP/s", "GB/s"}) {
    CHECK_MESSAGE(row_of(run.out, name).size() == 2, name);
  }
  for (const char* name : {"of the FMA peak", "of the product's speed", "of the read bandwidth"}) {
    CHECK_MESSAGE(row_of(run.out, name).size() == 4, name);  // two numbers, each with its %
  }
  std::ifstream file(path, std::ios::binary);
  const std::string picture(std::istreambuf_iterator<char>(file), {});
  CHECK(XmlCheck::problem(picture) == "");
  CHECK(picture.find(">prefill</text>") != std::string::npos);
  CHECK(picture.find(">decode</text>") != std::string::npos);
}

TEST_CASE("prefill_and_decode: a preset with random weights, in each format") {
  for (const char* dtype : {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"}) {
    const ProgramRun run = run_program(program, {"--counts", "--dtype", dtype});
    CHECK_MESSAGE(run.code == 0, dtype);
    CHECK(run.out.find(dtype) != std::string::npos);
  }
}

TEST_CASE("prefill_and_decode: a file is called by the last part of its path, on one line") {
  const ScratchDirectory directory;
  std::ifstream file(IMBREX_GOLDEN_DIR "/tiny/f32.gguf", std::ios::binary);
  const std::string model(std::istreambuf_iterator<char>(file), {});
  const std::string path = directory.file("m\n\x1b]0;title\x07.gguf", model);
  const ProgramRun run = run_program(program, {path, "--prompt", "8", "--counts"});
  CHECK(run.code == 0);
  CHECK(run.out.find("m??]0;title?.gguf: ") == 0);
}

TEST_CASE("prefill_and_decode: --help, and what is wrong") {
  const ProgramRun help = run_program(program, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: prefill_and_decode") == 0);
  const auto complaint = [](const Words& words) {
    return one_line_error(run_program(program, words), "prefill_and_decode");
  };
  CHECK(complaint({"llama-2-7c"}).find("no preset is called 'llama-2-7c'") == 0);
  CHECK(complaint({"smollm2-135m", "more"}).find("'more'") != std::string::npos);
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"--dtype", "Q2_K"}).find("--dtype: expected F32") == 0);
  CHECK(complaint({"--prompt", "0"}).find("--prompt = 0: expected 1 to 8191") == 0);
  CHECK(complaint({"--prompt", "8192"}).find("--prompt = 8192") == 0);
  CHECK(complaint({"--prompt", "x"}).find("--prompt: expected a whole number") == 0);
  CHECK(complaint({"--threads", "-1"}).find("threads = -1") == 0);
  CHECK(complaint({"--counts", "--svg", "p.svg"}) ==
        "--svg: expected no --counts with it: see --help");
  CHECK(complaint({IMBREX_GOLDEN_DIR "/tiny/f32.gguf", "--dtype", "F32"}) ==
        "--dtype: a file's weights have formats of their own");
  CHECK(complaint({"missing.gguf"}).find("missing.gguf") == 0);
  // Llama 3.1 405B, D = 16384, 8 key heads of 128, F = 53248, 126 layers, of 131071 tokens in f32:
  //   405853388800 weights                                                   1.476 TiB
  //   131071 (4 D + 2 D + 2 * 1024 + 2 F) + 128256 of activations            0.099 TiB
  //   2 * 126 * 1024 * 131072 of keys and values                             0.123 TiB
  CHECK(complaint({"llama-3.1-405b", "--dtype", "F32", "--prompt", "131071"})
            .find("the pass takes 1.70 TiB, the machine has ") == 0);
}
