// The example `parameter_count`, run as a user runs it.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

TEST_CASE("parameter_count: Llama 2 7B, to the last parameter") {
  const ProgramRun run = run_program(IMBREX_EXAMPLES "parameter_count", {"llama-2-7b"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  // 2 V D + L (4 D^2 + 3 D F + 2 D) + D with V = 32000, D = 4096, F = 11008, L = 32.
  CHECK(run.out.find("6,738,415,616") != std::string::npos);
  for (const char* part : {"embedding", "attention", "feed-forward", "norms", "head"}) {
    CHECK_MESSAGE(run.out.find(part) != std::string::npos, part);
  }
}

TEST_CASE("parameter_count: without arguments every preset; a file by its tensors") {
  const ProgramRun all = run_program(IMBREX_EXAMPLES "parameter_count", {});
  CHECK(all.code == 0);
  CHECK(all.out.find("llama-2-7b") != std::string::npos);
  CHECK(all.out.find("6,738,415,616") != std::string::npos);

  // golden/tiny/f32: embedding 320 x 64, tied; two layers of 4 heads and 2 KV heads of 16, hidden
  // 64: 20480 + 2 (64 (64 + 32 + 32 + 64) + 3 64 64 + 2 64) + 64 = 69952.
  const ProgramRun file =
      run_program(IMBREX_EXAMPLES "parameter_count", {IMBREX_GOLDEN_DIR "/tiny/f32.gguf"});
  CHECK(file.code == 0);
  CHECK(file.out.find("69,952") != std::string::npos);
}

TEST_CASE("parameter_count: --where-the-notes-differ, eight points") {
  const ProgramRun run =
      run_program(IMBREX_EXAMPLES "parameter_count", {"--where-the-notes-differ"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  for (const char* text :
       {"1. ", "8 KV groups, embeddings tied",  // theirs, then what is right
        "6,738,415,616: 32 KV heads, embeddings not tied",
        // 32 (2.5 D^2 + 3 D F + 2 D) + D + V D, with D = 4096, F = 11008, V = 32000
        "5,802,037,248 with 8 and tied: 5,670,965,248 and 131,072,000", "2. ",
        "128 = 4,096 / 32; 32 heads of 64 are 2,048 wide", "3. ",
        "imbrex     tied: llama-3.2-1b, llama-3.2-3b\n", "not tied: llama-1-7b,",
        // T^2 d^2 / M = 4096^2 128^2 / 98304, and T d + T^2
        "4. ", "Theta(T^2 d^2 / M): 2,796,202", "Theta(T d + T^2): 17,301,504", "5. ", "134.8 GB",
        "12 bytes a parameter (80.86 GB), with weights and gradients 16", "107.81 GB in all",
        // e^2 / (e^2 + 1) = 0.8808
        "6. ", "0.8808 on \"cat\", 0.1192 on itself, 0.0000 on \"dog\"",
        "the third token's is exactly 0, the other two sum to 1.0000", "7. ",
        "right: 4 query heads a KV head; 128 KiB a token for 512 KiB, 4 times less", "8. ",
        "right: 1,073,741,824 bytes, 1.07 GB"}) {
    CHECK_MESSAGE(run.out.find(text) != std::string::npos, text);
  }
  CHECK(run.out.find("9. ") == std::string::npos);
}

TEST_CASE("parameter_count: --help, and what it does not know") {
  const ProgramRun help = run_program(IMBREX_EXAMPLES "parameter_count", {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: parameter_count") == 0);
  const auto complaint = [](const std::vector<std::string>& words) {
    return one_line_error(run_program(IMBREX_EXAMPLES "parameter_count", words), "parameter_count");
  };
  CHECK(complaint({"llama-2-7c"}).find("no preset is called 'llama-2-7c'") == 0);
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"llama-2-7b", "more"}).find("'more'") != std::string::npos);
  CHECK(complaint({"missing.gguf"}).find("missing.gguf") != std::string::npos);
  CHECK(complaint({"/"}) != "");
}
