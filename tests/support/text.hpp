// Text files of the project as tests read them: whole, and the tables in them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace imbrex::tests {

/// What a file contains; a test that cannot read it ends there.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The cells of a line of a table, "| a | b |", without the spaces around them.
inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  for (std::size_t at = line.find('|'), end; (end = line.find('|', at + 1)) != line.npos;
       at = end) {
    const std::string cell = line.substr(at + 1, end - at - 1);
    const std::size_t from = cell.find_first_not_of(' '), to = cell.find_last_not_of(' ');
    found.push_back(from == cell.npos ? "" : cell.substr(from, to - from + 1));
  }
  return found;
}

}  // namespace imbrex::tests
