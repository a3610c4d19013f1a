// The example `inspect`, run as a user runs it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/formats/handmade_gguf.hpp"
#include "tests/formats/scratch_directory.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

using Words = std::vector<std::string>;

ProgramRun inspect(const Words& words) { return run_program(IMBREX_EXAMPLES "inspect", words); }

std::string complaint(const Words& words) { return one_line_error(inspect(words), "inspect"); }

/// Whether a line begins with `start` and has the pieces behind it, in their order.
bool has_line(const std::string& out, const std::string& start, const Words& pieces) {
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = out.find('\n', at);
    const std::string line = out.substr(at, end - at);
    if (line.find(start) == 0) {
      std::size_t from = start.size();
      bool all = true;
      for (const std::string& piece : pieces) {
        from = line.find(piece, from);
        all = all && from != std::string::npos;
        if (!all) break;
        from += piece.size();
      }
      if (all) return true;
    }
    at = end == std::string::npos ? end : end + 1;
  }
  return false;
}

std::string as_text(const handmade::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data.data()), bytes.data.size()};
}

}  // namespace

TEST_CASE("inspect: metadata, tensors, formats and parameters of a file") {
  const ProgramRun run = inspect({IMBREX_GOLDEN_DIR "/tiny/mixed.gguf"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(run.out.find("GGUF version 3, 19 keys, 21 tensors aligned to 32 bytes\n") == 0);
  CHECK(has_line(run.out, "llama.embedding_length ", {"UINT32", "64"}));
  CHECK(has_line(run.out, "general.name ", {"STRING", "\"tiny-mixed\""}));
  CHECK(has_line(run.out, "tokenizer.ggml.token_type ", {"ARRAY of 320 INT32", "[1, 1, 1, ...]"}));
  // Q8_0: a row of 64 is 2 blocks of 34 bytes.
  CHECK(has_line(run.out, "blk.0.attn_q.weight ",
                 {"Q8_0", "[Heads=4, HeadDim=16, Model=64]", "4,352"}));
  CHECK(has_line(run.out, "output_norm.weight ", {"F32", "[Model=64]", "256"}));
  CHECK(has_line(run.out, "Q4_0 ", {"2", "6,144", "3,456", "4.50"}));
  CHECK(has_line(run.out, "all ", {"21", "102,720", "199,168"}));
  // 2 x 320 x 64 + 2 (64 (64 + 32 + 32 + 64) + 3 x 64 x 96 + 2 x 64) + 64.
  CHECK(run.out.find("Parameters by the metadata: 102,720, as many as the tensors hold.\n") !=
        std::string::npos);
}

TEST_CASE("inspect: blocks that are alike are one line, with --all as many as there are") {
  const std::string path = IMBREX_GOLDEN_DIR "/tiny/f32.gguf";
  const ProgramRun brief = inspect({path}), full = inspect({path, "--all"});
  CHECK(has_line(brief.out, "1 block like blk.0 ", {}));
  CHECK(!has_line(brief.out, "blk.1.attn_q.weight ", {}));
  CHECK(has_line(full.out, "blk.1.attn_q.weight ", {"[Heads=4, HeadDim=16, Model=64]"}));
  CHECK(full.out.find("block like") == std::string::npos);
}

TEST_CASE("inspect: strings of a file cannot reach the terminal as they are") {
  handmade::Bytes bytes;
  bytes.header(1, 3);
  bytes.text("evil\x1b[2J").u32(handmade::uint8).u8(7);
  bytes.text("text")
      .u32(handmade::string)
      .text(
          "a\r\nb\xc2\x9b"
          "c");
  bytes.text("list")
      .u32(handmade::array)
      .u32(handmade::string)
      .u64(2)
      .text("\x1b]0;x\x07")
      .text("");
  bytes.tensor("name\n\x1b[31m", {4}, handmade::f32, 0).pad(32).zeros(16);
  const ScratchDirectory directory;
  const ProgramRun run = inspect({directory.file("evil.gguf", as_text(bytes))});
  CHECK(run.code == 0);
  CHECK(has_line(run.out, "evil?[2J ", {"UINT8", "7"}));
  CHECK(has_line(run.out, "text ", {"STRING", "\"a??b?c\""}));
  CHECK(has_line(run.out, "list ", {"ARRAY of 2 STRING", "[\"?]0;x?\", \"\"]"}));
  CHECK(has_line(run.out, "name??[31m ", {"F32", "[4]", "16"}));
  CHECK(run.out.find('\x1b') == std::string::npos);
  CHECK(run.out.find("The library does not compute this model: ") != std::string::npos);
}

TEST_CASE("inspect: a file of nothing, and what is none") {
  handmade::Bytes empty;
  empty.header(0, 0).pad(32);
  const ScratchDirectory directory;
  const ProgramRun run = inspect({directory.file("empty.gguf", as_text(empty))});
  CHECK(run.code == 0);
  CHECK(run.out.find("0 keys, 0 tensors") != std::string::npos);
  CHECK(complaint({directory.file("text.gguf", "not one")}).find("text.gguf") != std::string::npos);
  CHECK(complaint({"missing.gguf"}).find("missing.gguf") != std::string::npos);
}

TEST_CASE("inspect: --help, and what it does not know") {
  const ProgramRun help = inspect({"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: inspect") == 0);
  CHECK(complaint({}) == "expected a GGUF file; see --help");
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"a.gguf", "b.gguf"}).find("'b.gguf'") != std::string::npos);
}
