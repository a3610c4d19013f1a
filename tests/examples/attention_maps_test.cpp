// The example `attention_maps`, run as a user runs it, on the small models of golden/tiny.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "imbrex/formats/gguf_file.hpp"
#include "tests/examples/well_formed.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

const std::string program = IMBREX_EXAMPLES "attention_maps";

std::string tiny(const std::string& name) { return IMBREX_GOLDEN_DIR "/tiny/" + name + ".gguf"; }

std::string line_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, start.size(), start) == 0) return line;
  }
  return "";
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// The weights of layer 1, head 3 for the tokens 5 17 300 42 5, from the float64 forward of
// golden/reference.py (its `softmax`, the eighth call), to four places:
//
//   f32     1
//           0.9464 0.0536
//           0.0545 0.3595 0.5860
//           0.2687 0.0058 0.0151 0.7104
//           0.0270 0.1014 0.0020 0.8407 0.0289
//   wide    0.5060 0.4382 0.0032 0.0526 in the fourth row, with linear scaling and one key head
//   kquant  0.0373 0.3607 0.5609 0.0167 0.0243 in the last, with factors of the frequencies
TEST_CASE("attention_maps: the weights of one head are those of a reference") {
  const auto one = [](const std::string& name) {
    const ProgramRun run = run_program(program, {"--model", tiny(name), "--tokens", "5,17,300,42,5",
                                                 "--layer", "1", "--head", "3"});
    CHECK(run.code == 0);
    CHECK(run.err == "");
    return run.out;
  };
  const std::string f32 = one("f32");
  CHECK(f32.find("2 layers of 4 heads; 5 tokens: 5 17 300 42 5") == 0);
  CHECK(line_of(f32, "0  ") == "0  1.00                          5");
  CHECK(line_of(f32, "1  ") == "1  0.95  0.05                    17");
  CHECK(line_of(f32, "2  ") == "2  0.05  0.36  0.59              300");
  CHECK(line_of(f32, "3  ") == "3  0.27  0.01  0.02  0.71        42");
  CHECK(line_of(f32, "4  ") == "4  0.03  0.10     *  0.84  0.03  5");
  CHECK(line_of(one("wide"), "3  ") == "3  0.51  0.44     *  0.05        42");
  CHECK(line_of(one("kquant"), "4  ") == "4  0.04  0.36  0.56  0.02  0.02  5");
}

TEST_CASE("attention_maps: all heads, as letters and as squares") {
  const ScratchDirectory directory;
  const std::string path = directory / "all.svg";
  const ProgramRun run =
      run_program(program, {"--model", tiny("f32"), "--tokens", "5,17,300,42,5", "--svg", path});
  CHECK(run.code == 0);
  CHECK(line_of(run.out, "    0 ").size() == std::string("    0  . . . .").size());
  CHECK(line_of(run.out, "    1 ").size() == std::string("    1  . . . .").size());
  CHECK(line_of(run.out, "most on the first token") != "");
  CHECK(line_of(run.out, "weights times values against what the decoder attended") != "");
  const std::string picture = contents(path);
  CHECK(XmlCheck::problem(picture) == "");
  CHECK(occurrences(picture, "<g ") == 2 * 4);
}

TEST_CASE("attention_maps: the picture of one head has its tokens on both axes") {
  const ScratchDirectory directory;
  const std::string path = directory / "one.svg";
  CHECK(run_program(program, {"--model", tiny("f32"), "--tokens", "5,17,300,42,5", "--layer", "0",
                              "--head", "2", "--svg", path})
            .code == 0);
  const std::string picture = contents(path);
  CHECK(XmlCheck::problem(picture) == "");
  CHECK(occurrences(picture, "<g ") == 1);
  CHECK(occurrences(picture, ">300</text>") == 2);
  // The first query sees itself alone: a full cell, top left, in the path of opacity 1.
  CHECK(picture.find("<path fill-opacity=\"1\" d=\"M0 0h1v1h-1z") != std::string::npos);
}

TEST_CASE("attention_maps: one token, two tokens, a text") {
  const ProgramRun text = run_program(program, {"--model", tiny("f32"), "--prompt", "a \"<b\"\n"});
  CHECK(text.code == 0);
  CHECK(text.out.find("\xC2\xB7") != std::string::npos);  // a space that can be seen
  for (const char* tokens : {"5", "5,17"}) {
    const ProgramRun run = run_program(program, {"--model", tiny("f32"), "--tokens", tokens});
    CHECK(run.code == 0);
  }
}

// A check that compares with > passes whatever is NaN, and a picture of NaN has no shade.
TEST_CASE("attention_maps: what is not finite is refused, by layer and head") {
  const ScratchDirectory directory;
  const auto complaint = [&](const std::string& tensor) {
    std::string model = contents(tiny("f32"));
    {
      const imbrex::GgufFile file = imbrex::GgufFile::open(tiny("f32"));
      const imbrex::GgufTensor* place = file.find_tensor(tensor);
      REQUIRE(place != nullptr);
      const auto bytes = static_cast<std::size_t>(place->bytes);
      model.replace(static_cast<std::size_t>(place->offset), bytes, bytes, '\xFF');  // all NaN
    }
    const std::string path = directory.file("nan.gguf", model), svg = directory / "nan.svg";
    const ProgramRun run =
        run_program(program, {"--model", path, "--tokens", "5,17,300", "--svg", svg});
    CHECK(contents(svg) == "");
    return one_line_error(run, "attention_maps");
  };
  CHECK(complaint("blk.0.attn_q.weight") == "layer 0, head 0: q of token 0 is not finite");
  CHECK(complaint("blk.1.attn_k.weight") == "layer 1, head 0: k of token 0 is not finite");
  CHECK(complaint("blk.1.attn_v.weight") == "layer 1, head 0: v of token 0 is not finite");
}

TEST_CASE("attention_maps: --help, and what is wrong") {
  const ProgramRun help = run_program(program, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: attention_maps") == 0);
  const auto complaint = [](Words words) {
    return one_line_error(run_program(program, words), "attention_maps");
  };
  const auto of_tiny = [&](Words words) {
    words.insert(words.begin(), {"--model", tiny("f32")});
    return complaint(words);
  };
  CHECK(complaint({}) == "expected --model FILE.gguf: see --help");
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"--model", "missing.gguf"}).find("missing.gguf") == 0);
  CHECK(of_tiny({"--layer", "1"}) == "expected --layer and --head together: see --help");
  CHECK(of_tiny({"--layer", "-1", "--head", "0"}).find("--layer: expected a whole number") == 0);
  CHECK(of_tiny({"--tokens", "5", "--layer", "2", "--head", "0"}) ==
        "--layer: expected 0 to 1, got 2");
  CHECK(of_tiny({"--tokens", "5", "--layer", "0", "--head", "4"}) ==
        "--head: expected 0 to 3, got 4");
  for (const char* tokens : {"", ",", "1,", "1,,2", "a", "1 2", "99999999999"}) {
    CHECK_MESSAGE(of_tiny({"--tokens", tokens}).find("--tokens: expected numbers") == 0, tokens);
  }
  CHECK(of_tiny({"--tokens", "5", "--prompt", "x"}) ==
        "--tokens: expected no --prompt with it: see --help");
  CHECK(of_tiny({"--tokens", "320"}).find("token 320") == 0);
  std::string many = "1";
  for (int i = 0; i < 256; ++i) many += ",1";
  CHECK(of_tiny({"--tokens", many}) == "expected 1 to 256 tokens, got 257");
  CHECK(of_tiny({"--tokens", "5", "--svg", "/missing/p.svg"}).find("/missing/p.svg") == 0);
}
