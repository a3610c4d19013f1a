// Whether the programs in a document are ones that a test compiles.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <string>

namespace imbrex::tests {

/// The lines of a file, each without its indentation.
inline std::string without_indentation(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    text += line.erase(0, line.find_first_not_of(' ')) + "\n";
  }
  return text;
}

/// Checks that every block of C++ in `document` stands in `source`, line for line; both from the
/// top of the project.
inline void check_quoted_programs(const std::string& document, const std::string& source) {
  const std::string root = IMBREX_INCLUDE_DIR "/../", opening = "```cpp\n";
  const std::string text = without_indentation(root + document);
  const std::string programs = without_indentation(root + source);
  int blocks = 0;
  for (std::size_t at = text.find(opening); at != text.npos; at = text.find(opening, at + 1)) {
    const std::size_t begin = at + opening.size();
    const std::string block = text.substr(begin, text.find("```\n", begin) - begin);
    CHECK_MESSAGE(programs.find(block) != programs.npos, document << ":\n" << block);
    ++blocks;
  }
  CHECK(blocks > 0);
}

}  // namespace imbrex::tests
