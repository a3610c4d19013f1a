// tests/reports.md: every test that it names is there.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/text.hpp"

using imbrex::tests::cells;
using imbrex::tests::contents;

namespace {

namespace fs = std::filesystem;

const fs::path tests = fs::path(IMBREX_INCLUDE_DIR).parent_path() / "tests";

/// The text of a C++ file with the strings that were cut into lines put together again.
std::string joined(std::string text) {
  for (std::size_t at = 0; (at = text.find("\"\n", at)) != text.npos;) {
    const std::size_t next = text.find_first_not_of(" \n", at + 1);
    if (next != text.npos && text[next] == '"') {
      text.erase(at, next + 1 - at);
    } else {
      ++at;
    }
  }
  return text;
}

/// Whether a file has a test: a doctest case or a CMake call of that very name (a library, where
/// that it compiles is the test; a package's way, alone or in a list); in others, the text itself.
bool has_test(const std::string& file, const std::string& text, const std::string& name) {
  if (file.ends_with("_test.cpp")) return text.find("TEST_CASE(\"" + name + "\")") != text.npos;
  if (!file.ends_with("CMakeLists.txt")) return text.find(name) != text.npos;
  const std::string calls =
      R"((add_library\(|add_test\(NAME |package_test\(|foreach\(way (\w+ )*))";
  return std::regex_search(text, std::regex("\n *" + calls + name + "[ )\n]"));
}

}  // namespace

TEST_CASE("reports: every test that the table of public reports names is in the file it names") {
  std::ifstream table(tests / "reports.md");
  REQUIRE(table.good());
  int names = 0;
  bool tested = true;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("## ")) tested = line == "## What is tested";
    const std::vector<std::string> row = cells(line);
    if (!tested || row.size() != 3 || row[2] == "test" || row[2] == "---") continue;
    const std::size_t colon = row[2].find(": ");
    REQUIRE_MESSAGE(colon != row[2].npos, line);
    const std::string file = row[2].substr(0, colon), name = row[2].substr(colon + 2);
    CHECK_MESSAGE(has_test(file, joined(contents(tests / file)), name), row[2]);
    ++names;
  }
  CHECK(names > 100);
}
