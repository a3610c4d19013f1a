// The example `attention_maps` with SmolLM2-135M-Instruct.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/examples/well_formed.hpp"
#include "tests/support/model_file.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

// Layer 16, head 0 looks at the token before. From the float64 forward of golden/reference.py:
//
//   chased (2)   0.1021 0.8864 0.0116
//   mouse (4)    0.0644 0.0001 0.2542 0.6734 0.0079
//   dog (11)     0.2085 0      0      0.0005 0.0025 0 0 0 0.0001 0.2288 0.5444 0.0150
TEST_CASE("attention_maps: a head of the real model has the weights of a reference") {
  const std::string model = model_file();
  if (model.empty()) return;
  const ScratchDirectory directory;
  const std::string path = directory / "p.svg";
  const ProgramRun run =
      run_program(IMBREX_EXAMPLES "attention_maps",
                  {"--model", model, "--layer", "16", "--head", "0", "--svg", path});
  CHECK(run.code == 0);
  const auto has = [&](const char* text) { return run.out.find(text) != std::string::npos; };
  CHECK(
      has("13 tokens: The \xC2\xB7"
          "cat \xC2\xB7"
          "chased"));
  CHECK(has("\n 2  0.10  0.89  0.01 "));
  CHECK(has("\n 4  0.06     *  0.25  0.67  0.01 "));
  CHECK(has("\n11  0.21     *     *     *     *     *     *     *     *  0.23  0.54  0.0"));
  std::ifstream file(path, std::ios::binary);
  const std::string picture(std::istreambuf_iterator<char>(file), {});
  CHECK(XmlCheck::problem(picture) == "");
  CHECK(occurrences(picture,
                    ">\xC2\xB7"
                    "mouse</text>") == 2);
}

TEST_CASE("attention_maps: all 270 heads of the real model") {
  const std::string model = model_file();
  if (model.empty()) return;
  const ScratchDirectory directory;
  const std::string path = directory / "p.svg";
  const ProgramRun run =
      run_program(IMBREX_EXAMPLES "attention_maps", {"--model", model, "--svg", path});
  CHECK(run.code == 0);
  CHECK(run.out.find("30 layers of 9 heads") == 0);
  std::ifstream file(path, std::ios::binary);
  const std::string picture(std::istreambuf_iterator<char>(file), {});
  CHECK(XmlCheck::problem(picture) == "");
  CHECK(occurrences(picture, "<g ") == 270);
}
