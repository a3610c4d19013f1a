// The example `parameter_count`, run as a user runs it.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

TEST_CASE("parameter_count: Llama 2 7B, to the last parameter") {
  const ProgramRun run = run_program(IMBREX_PARAMETER_COUNT, {"llama-2-7b"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  // 2 V D + L (4 D^2 + 3 D F + 2 D) + D with V = 32000, D = 4096, F = 11008, L = 32.
  CHECK(run.out.find("6,738,415,616") != std::string::npos);
  for (const char* part : {"embedding", "attention", "feed-forward", "norms", "head"}) {
    CHECK_MESSAGE(run.out.find(part) != std::string::npos, part);
  }
}

TEST_CASE("parameter_count: without arguments every preset; a file by its tensors") {
  const ProgramRun all = run_program(IMBREX_PARAMETER_COUNT, {});
  CHECK(all.code == 0);
  CHECK(all.out.find("llama-2-7b") != std::string::npos);
  CHECK(all.out.find("6,738,415,616") != std::string::npos);

  // golden/tiny/f32: embedding 320 x 64, tied; two layers of 4 heads and 2 KV heads of 16, hidden
  // 64: 20480 + 2 (64 (64 + 32 + 32 + 64) + 3 64 64 + 2 64) + 64 = 69952.
  const ProgramRun file = run_program(IMBREX_PARAMETER_COUNT, {IMBREX_GOLDEN_DIR "/tiny/f32.gguf"});
  CHECK(file.code == 0);
  CHECK(file.out.find("69,952") != std::string::npos);
}

TEST_CASE("parameter_count: --help, and what it does not know") {
  const ProgramRun help = run_program(IMBREX_PARAMETER_COUNT, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: parameter_count") == 0);
  const auto complaint = [](const std::vector<std::string>& words) {
    return one_line_error(run_program(IMBREX_PARAMETER_COUNT, words), "parameter_count");
  };
  CHECK(complaint({"llama-2-7c"}).find("no preset is called 'llama-2-7c'") == 0);
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"llama-2-7b", "more"}).find("'more'") != std::string::npos);
  CHECK(complaint({"missing.gguf"}).find("missing.gguf") != std::string::npos);
  CHECK(complaint({"/"}) != "");
}
