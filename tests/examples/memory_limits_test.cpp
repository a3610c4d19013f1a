// The programs with files that are none, in a process that may have little memory: one line that
// says what is wrong.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/lies.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

constexpr const char* limited = "ulimit -v 400000; ";  // KiB

/// A file of a hundred bytes: `count` tensors or keys, strings or numbers that are not there.
std::string header(std::uint64_t tensors, std::uint64_t keys) {
  std::string bytes = "GGUF";
  const std::uint32_t version = 3;
  bytes.append(reinterpret_cast<const char*>(&version), 4);
  bytes.append(reinterpret_cast<const char*>(&tensors), 8);
  bytes.append(reinterpret_cast<const char*>(&keys), 8);
  bytes.resize(100);
  return bytes;
}

/// Every program that reads a model, and the words that make it.
std::vector<std::pair<const char*, std::vector<std::string>>> readers_of(const std::string& file) {
  return {{"generate", {"--model", file, "--prompt", "x"}},
          {"attention_maps", {"--model", file}},
          {"ask", {file, "x"}},
          {"inspect", {file}},
          {"memory_ledger", {file}},
          {"parameter_count", {file}},
          {"prefill_and_decode", {file}},
          {"shape_trace", {file}}};
}

}  // namespace

TEST_CASE("programs: a file of 100 bytes costs no gigabyte, and is refused in one line") {
  const ScratchDirectory directory;
  for (const std::uint64_t count :
       {std::uint64_t{4}, std::uint64_t{1} << 20, std::uint64_t{1} << 32, std::uint64_t{1} << 40,
        ~std::uint64_t{0} >> 1, ~std::uint64_t{0}}) {
    for (const std::string& bytes : {header(count, 0), header(0, count), header(count, count)}) {
      const std::string file = directory.file("m.gguf", bytes);
      for (const auto& [program, words] : readers_of(file)) {
        const std::string path = std::string(IMBREX_EXAMPLES) + program;
        REQUIRE_MESSAGE(std::filesystem::exists(path), path);
        CHECK(one_line_error(run_program(path, words, limited), program).starts_with(file + ": "));
      }
    }
  }
}
