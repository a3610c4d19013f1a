// The example `generate`, run as a user runs it; with the small models of golden/tiny.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

const std::string tiny = IMBREX_GOLDEN_DIR "/tiny/f32.gguf";

ProgramRun generate(const Words& words, const std::string& settings = "") {
  return run_program(IMBREX_EXAMPLES "generate", words, settings);
}

/// What `generate` complains of.
std::string complaint(const Words& words, const std::string& settings = "") {
  const ProgramRun run = generate(words, settings);
  CHECK(run.out == "");
  return one_line_error(run, "generate");
}

/// The same for options beside a model and a prompt that are all right.
std::string complaint_of(Words options) {
  options.insert(options.begin(), {"--model", tiny, "--prompt", "1"});
  return complaint(options);
}

}  // namespace

TEST_CASE("generate: --help explains every option and is no error") {
  const ProgramRun run = generate({"--help"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  for (const char* option :
       {"--model", "--prompt", "--chat", "--system", "--max-tokens", "--stop", "--temperature",
        "--top-k", "--top-p", "--min-p", "--repetition-penalty", "--seed", "--context", "--cache",
        "--threads", "--no-map", "--quiet", "--help"}) {
    CHECK_MESSAGE(run.out.find(option) != std::string::npos, option);
  }
}

TEST_CASE("generate: a command line that is wrong") {
  CHECK(complaint({}) == "expected --model FILE.gguf: see --help");
  CHECK(complaint({"--model", tiny}) == "expected --prompt TEXT or --chat: see --help");
  CHECK(complaint({"--bogus"}) == "unknown option --bogus: see --help");
  CHECK(complaint({"--two\nlines"}) == "unknown option --two?lines: see --help");
  CHECK(complaint({"m.gguf"}) ==
        "unexpected word 'm.gguf': a file is --model FILE, a text --prompt \"TEXT\"");
  CHECK(complaint({"--model"}) == "--model: expected a value behind it");
  for (const char* system : {"Be kind.", ""}) {
    CHECK(complaint_of({"--system", system}) == "--system: expected --chat with it: see --help");
  }
  CHECK(complaint_of({"--seed"}) == "--seed: expected a value behind it");
  for (const char* number : {"", "ten", "10x", " 1", "1e99", "99999999999999999999"}) {
    CHECK(complaint_of({"--max-tokens", number}) ==
          std::string("--max-tokens: expected a whole number, got \"") + number + "\"");
  }
  CHECK(complaint_of({"--seed", "-1"}) == "--seed: expected a whole number, 0 or more, got \"-1\"");
  CHECK(complaint_of({"--top-p", "1e999"}) == "--top-p: expected a number, got \"1e999\"");
}

TEST_CASE("generate: values out of range") {
  CHECK(complaint_of({"--max-tokens", "-1"}) == "max_tokens = -1: expected 0 or more");
  CHECK(complaint_of({"--temperature", "-0.5"}).find("temperature = -0.5") == 0);
  CHECK(complaint_of({"--temperature", "nan"}).find("temperature = nan") == 0);
  CHECK(complaint_of({"--top-p", "1.5"}).find("top_p = 1.5") == 0);
  CHECK(complaint_of({"--top-k", "-3"}).find("top_k = -3") == 0);
  CHECK(complaint_of({"--min-p", "2"}).find("min_p = 2") == 0);
  CHECK(complaint_of({"--repetition-penalty", "0"}).find("repetition_penalty = 0") == 0);
  CHECK(complaint_of({"--stop", ""}) == "stop = \"\": expected a text of one byte or more");
  CHECK(complaint_of({"--threads", "-1"}) == "threads = -1: expected 0 to 1024");
  CHECK(complaint_of({"--cache", "q8_0"}) == "--cache: expected f32, f16 or bf16, got q8_0");
  CHECK(complaint_of({"--context", "-1"}) ==
        "--context: expected at most the model's context, 256, or 0 for it, got -1");
  CHECK(complaint_of({"--context", "257"}) ==
        "--context: expected at most the model's context, 256, or 0 for it, got 257");
}

TEST_CASE("generate: files that are no model") {
  const ScratchDirectory directory;
  const auto with = [](const std::string& file) {
    const std::string text = complaint({"--model", file, "--prompt", "x"});
    CHECK(text.find(file) != std::string::npos);
    return text;
  };
  with(directory / "missing.gguf");
  with(directory.path());
  with(directory.file("empty.gguf", ""));
  with(directory.file("text.gguf", "this is no model, but it is longer than a header"));

  std::ifstream file(tiny, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  REQUIRE(whole.size() > 1000);
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{100}}) {
    with(directory.file("truncated.gguf", whole.substr(0, size)));
  }
  // A vocabulary without a model, and one whose template is not ChatML.
  complaint({"--model", IMBREX_GOLDEN_DIR "/tokenizers/qwen2.gguf", "--prompt", "x"});
  complaint({"--model", tiny, "--prompt", "1", "--chat"});
}

TEST_CASE("generate: an instruction set that there is not") {
  const std::string text = complaint({"--model", tiny, "--prompt", "1"}, "IMBREX_ISA=nonsense ");
  CHECK(text.find("IMBREX_ISA = nonsense: expected one that this machine has: scalar") == 0);
}

TEST_CASE("generate: a prompt longer than the context") {
  const std::string text =
      complaint({"--model", tiny, "--prompt", std::string(40, '1'), "--context", "30"});
  CHECK(text.find("expected at most 30 tokens") != std::string::npos);
}

TEST_CASE("generate: an answer longer than the context keeps what was said") {
  const ProgramRun run =
      generate({"--model", tiny, "--prompt", "111", "--context", "8", "--max-tokens", "50"});
  CHECK(run.out.substr(0, 3) == "111");
  CHECK(run.out.back() == '\n');  // on a terminal the error has a line of its own
  CHECK(one_line_error(run, "generate").find("room for 8 tokens") != std::string::npos);
}

TEST_CASE("generate: text on the one side, statistics on the other") {
  const Words words{"--model", tiny, "--prompt", "1 + 1", "--max-tokens", "6"};
  const ProgramRun run = generate(words);
  CHECK(run.code == 0);
  CHECK(run.out.substr(0, 5) == "1 + 1");
  CHECK(run.err.find("tokens/s") != std::string::npos);
  CHECK(run.err.find("loading") == std::string::npos);  // standard error is no terminal here
  CHECK(run.err.find('\r') == std::string::npos);
  Words quiet = words;
  quiet.push_back("--quiet");
  CHECK(generate(quiet).err == "");
  CHECK(generate(quiet).out == run.out);
  quiet.push_back("--no-map");
  CHECK(generate(quiet).out == run.out);
}

TEST_CASE("generate: output that does not arrive is an error") {
  if (!std::filesystem::exists("/dev/full")) return;  // writing to it says "no space left"
  for (const std::string& words :
       {std::string(" --help"), " --model " + quoted(tiny) + " --prompt 1"}) {
    const std::string command =
        quoted(IMBREX_EXAMPLES "generate") + words + " > /dev/full 2> /dev/null < /dev/null";
    const int status = std::system(command.c_str());
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
  }
}
