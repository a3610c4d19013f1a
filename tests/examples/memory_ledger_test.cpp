// The example `memory_ledger`, run as a user runs it.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

ProgramRun ledger(const Words& words) {
  return run_program(IMBREX_EXAMPLES "memory_ledger", words);
}

std::string complaint(const Words& words) { return one_line_error(ledger(words), "memory_ledger"); }

/// The words of the `nth` line that starts with `start`, behind that.
Words words_of(const std::string& out, const std::string& start, int nth = 1) {
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(start) != 0 || --nth > 0) continue;
    std::istringstream words(line.substr(start.size()));
    Words result;
    for (std::string word; words >> word;) result.push_back(word);
    return result;
  }
  return {};
}

}  // namespace

TEST_CASE("memory_ledger: Llama 2 7B, trained and cached") {
  const ProgramRun run = ledger({});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(run.out.find("llama-2-7b: 6,738,415,616 parameters") == 0);
  // 2 + 2 + 4 + 4 + 4 bytes for each.
  const Words two{"2", "13,476,831,232", "13.48", "GB", "12.55", "GiB"};
  const Words four{"4", "26,953,662,464", "26.95", "GB", "25.10", "GiB"};
  CHECK(words_of(run.out, "weights, bf16 ") == two);
  CHECK(words_of(run.out, "gradients, bf16 ") == two);
  CHECK(words_of(run.out, "master weights, f32 ") == four);
  CHECK(words_of(run.out, "first moment, f32 ") == four);
  CHECK(words_of(run.out, "second moment, f32 ") == four);
  CHECK(words_of(run.out, "all ") ==
        Words{"16", "107,814,649,856", "107.81", "GB", "100.41", "GiB"});
  // Activations of a token: 2 (32 (8 4096 + 3 11008) + 2 4096 + 32000) = 4,291,072 bytes.
  CHECK(words_of(run.out, "1 token ") == Words{"4.09", "MiB", "16.37", "MiB", "65.48", "MiB"});
  // Cache: 2 x 32 x 32 x 128 x 2 = 524,288 bytes a token.
  CHECK(words_of(run.out, "1 token ", 2) == Words{"512", "KiB", "2", "MiB", "8", "MiB"});
  CHECK(words_of(run.out, "4,096 tokens ", 2) == Words{"2", "GiB", "8", "GiB", "32", "GiB"});
}

TEST_CASE("memory_ledger: what is measured is what the ledger says") {
  for (const char* model : {"llama-2-7b", "smollm2-135m", "qwen3-0.6b", "qwen2.5-0.5b"}) {
    CAPTURE(model);
    const ProgramRun run = ledger({model});
    CHECK(run.code == 0);
    for (const char* start : {"weights: BF16, vectors F32 ", "cache of 64 tokens, F32 ",
                              "activations kept of a token, F32 "}) {
      CAPTURE(start);
      const Words figures = words_of(run.out, start);
      REQUIRE(figures.size() == 2);
      CHECK(figures[0] == figures[1]);
    }
  }
}

TEST_CASE("memory_ledger: a file, by hand") {
  // golden/tiny/f32: V 320, D 64, tied, two layers of 4 heads and 2 KV heads of 16, F 64.
  const ProgramRun run = ledger({IMBREX_GOLDEN_DIR "/tiny/f32.gguf"});
  CHECK(run.code == 0);
  CHECK(run.out.find(": 69,952 parameters") != std::string::npos);
  CHECK(words_of(run.out, "weights: F32, vectors F32 ") == Words{"279,808", "279,808"});
  // 2 x 2 x 2 x 16 x 64 x 4 bytes.
  CHECK(words_of(run.out, "cache of 64 tokens, F32 ") == Words{"32,768", "32,768"});
  // 64 x 576 + 320 floats: 4 x 64 + 2 x 64 + 2 x 32 + 2 x 64 = 576 a row.
  const Words workspace = words_of(run.out, "workspace of 64 rows, F32 ");
  REQUIRE(workspace.size() == 2);
  CHECK(workspace[0] == "148,736");
  CHECK(workspace[1] > workspace[0]);  // an id and a position for each row
  CHECK(workspace[1].size() == workspace[0].size());
  // 2 (4 x 64 + 2 x 64 + 2 x 32 + 3 x 64) + 2 x 64 + 320 = 1728 floats.
  CHECK(words_of(run.out, "activations kept of a token, F32 ") == Words{"6,912", "6,912"});
}

TEST_CASE("memory_ledger: --help, and what it does not know") {
  const ProgramRun help = ledger({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: memory_ledger") == 0);
  CHECK(complaint({"llama-2-7c"}).find("no preset is called 'llama-2-7c'") == 0);
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"llama-2-7b", "more"}).find("'more'") != std::string::npos);
  CHECK(complaint({"missing.gguf"}).find("missing.gguf") != std::string::npos);
}
