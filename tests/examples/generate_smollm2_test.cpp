// The example `generate` with SmolLM2-135M-Instruct.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/instruction_sets.hpp"
#include "tests/support/model_file.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

/// The answer in golden/smollm2/france.txt, computed by llama.cpp in f32, without the token that
/// ends the turn: fields kind, computation, prompt ids, answer ids, answer in hex, margin.
std::string golden_answer(const std::string& kind) {
  std::ifstream file(IMBREX_GOLDEN_DIR "/smollm2/france.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string field[6];
    for (std::string& f : field) std::getline(fields, f, '\t');
    if (field[0] != kind || field[1] != "f32") continue;
    std::string text;
    for (std::size_t i = 0; i + 1 < field[4].size(); i += 2) {
      text += static_cast<char>(std::stoi(field[4].substr(i, 2), nullptr, 16));
    }
    return text.substr(0, text.find("<|im_end|>"));
  }
  FAIL("no such line");
  return "";
}

std::string answer(const std::string& model, Words options, const std::string& settings = "") {
  options.insert(options.begin(),
                 {"--model", model, "--chat", "--prompt", "What is the capital of France?"});
  const ProgramRun run = run_program(IMBREX_EXAMPLES "generate", options, settings);
  CHECK(run.code == 0);
  if (run.code != 0) MESSAGE(run.err);
  return run.out;
}

}  // namespace

TEST_CASE("generate: the capital of France, with any number of threads and on every set") {
  const std::string model = model_file();
  if (model.empty()) return;
  const std::string expected = golden_answer("system") + "\n";
  CHECK(expected == "The capital of France is Paris.\n");
  CHECK(answer(model, {"--threads", "1"}) == expected);
  CHECK(answer(model, {"--threads", "2"}) == expected);
  for (const char* format : {"f32", "f16", "bf16"}) {
    CHECK(answer(model, {"--cache", format}) == expected);
  }
  for (const imbrex::Isa isa : available_sets()) {
    const std::string settings = std::string("IMBREX_ISA=") + name(isa) + " ";
    CHECK(answer(model, {"--no-map"}, settings) == expected);
  }
}

TEST_CASE("generate: it says which set ran") {
  const std::string model = model_file();
  if (model.empty()) return;
  for (const imbrex::Isa isa : available_sets()) {
    const ProgramRun run = run_program(IMBREX_EXAMPLES "generate",
                                       {"--model", model, "--prompt", "1", "--max-tokens", "1"},
                                       std::string("IMBREX_ISA=") + name(isa) + " ");
    CHECK(run.err.find(std::string(", ") + name(isa) + "\n") != std::string::npos);
  }
}

TEST_CASE("generate: a seed gives one text, another seed another") {
  const std::string model = model_file();
  if (model.empty()) return;
  const auto sampled = [&](const char* seed, const char* threads) {
    return answer(model, {"--system", "Write a poem.", "--temperature", "1.2", "--top-p", "0.95",
                          "--max-tokens", "16", "--seed", seed, "--threads", threads});
  };
  const std::string text = sampled("1", "1");
  CHECK(sampled("1", "2") == text);
  CHECK(sampled("2", "2") != text);
}

TEST_CASE("generate: stop texts, and a dialogue of two turns from standard input") {
  const std::string model = model_file();
  if (model.empty()) return;
  CHECK(answer(model, {"--stop", " France"}) == "The capital of\n");
  const ProgramRun run = run_program(IMBREX_EXAMPLES "generate",
                                     {"--model", model, "--chat", "--quiet", "--max-tokens", "16"},
                                     "", "What is the capital of France?\nAnd of Italy?\n");
  CHECK(run.code == 0);
  CHECK(run.out.find("The capital of France is Paris.\n") == 0);
  CHECK(run.out.find("Rome") != std::string::npos);
}

TEST_CASE("generate: a question longer than the context") {
  const std::string model = model_file();
  if (model.empty()) return;
  const ProgramRun run =
      run_program(IMBREX_EXAMPLES "generate",
                  {"--model", model, "--chat", "--context", "20", "--prompt", "Why?"});
  CHECK(one_line_error(run, "generate").find("expected at most 20 tokens") != std::string::npos);
  CHECK(run.out == "");
}
