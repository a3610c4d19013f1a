// What `generate` says when something goes wrong: one line, whatever the words and files are
// called, that blames what is to blame.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/lies.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

const std::string tiny = IMBREX_GOLDEN_DIR "/tiny/f32.gguf";

std::string complaint(const std::vector<std::string>& words, const std::string& settings = "") {
  return one_line_error(run_program(IMBREX_EXAMPLES "generate", words, settings), "generate");
}

}  // namespace

TEST_CASE("generate: names with line feeds and escapes are one line") {
  const ScratchDirectory directory;
  const std::string name = "m\n\x1b]0;title\x07.gguf", shown = directory / "m??]0;title?.gguf";
  CHECK(complaint({"--model", directory / name, "--prompt", "x"}).starts_with(shown + ": "));
  directory.file(name, "this is no model, but it is longer than a header");
  CHECK(complaint({"--model", directory / name, "--prompt", "x"}).starts_with(shown + ": "));
  CHECK(complaint({"--model", tiny, "--prompt", "1"}, "IMBREX_ISA=\"$(printf 'a\\n\\033[2J')\" ")
            .starts_with("IMBREX_ISA = a??[2J: expected one that this machine has: "));
}

TEST_CASE("generate: what is to blame is blamed") {
  CHECK(complaint({"--model", tiny, "--prompt", ""}) ==
        "session: expected a prompt of one token or more before generating");
  CHECK(complaint({"--model", tiny, "--prompt", "1", "--repetition-penalty", "1.2e-38"}) ==
        "repetition_penalty = 1.2e-38: expected one nearer to 1: it makes logits infinite");
  // The vocabulary's file, where it is the vocabulary.
  const ScratchDirectory directory;
  std::ifstream file(tiny, std::ios::binary);
  std::string model(std::istreambuf_iterator<char>(file), {}), nan = model;
  nan.replace(nan.size() - 4096, 4096, 4096, '\xFF');  // numbers of the last matrix: all NaN
  const std::string nan_path = directory.file("nan.gguf", nan);
  CHECK(complaint({"--model", nan_path, "--prompt", "1"})
            .starts_with(nan_path + ": sample(logits): logit 0 is NaN"));
  const std::string key = "tokenizer.ggml.pre";
  const std::size_t at = model.find(key);
  REQUIRE(at != model.npos);
  model[at + key.size() + 4 + 8] = '!';  // behind the key: its type, and the length of its text
  const std::string path = directory.file("m.gguf", model);
  CHECK(
      complaint({"--model", path, "--prompt", "1"}).starts_with(path + ": tokenizer.ggml.pre = !"));
}
