// tests/reports.md: every test that it names is there.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path tests = fs::path(IMBREX_INCLUDE_DIR).parent_path() / "tests";

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The cells of a line of a table, without the spaces around them.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  for (std::size_t at = line.find('|'); at != line.npos;) {
    const std::size_t end = line.find('|', at + 1);
    if (end == line.npos) break;
    const std::size_t first = line.find_first_not_of(' ', at + 1);
    const std::size_t last = line.find_last_not_of(' ', end - 1);
    result.push_back(first < end ? line.substr(first, last - first + 1) : "");
    at = end;
  }
  return result;
}

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
    const std::string text = joined(contents(tests / file));
    // A whole name of a test; anything in files that have none.
    const bool whole = file.ends_with("_test.cpp");
    CHECK_MESSAGE(text.find(whole ? "TEST_CASE(\"" + name + "\")" : name) != text.npos, row[2]);
    ++names;
  }
  CHECK(names > 100);
}
