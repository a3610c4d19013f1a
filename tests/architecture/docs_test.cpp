// The programs in the documents are ones that are compiled.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = fs::path(IMBREX_INCLUDE_DIR).parent_path();

/// The lines of a file, each without its indentation.
std::string without_indentation(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  std::string text;
  for (std::string line; std::getline(file, line);) {
    text += line.erase(0, line.find_first_not_of(' ')) + "\n";
  }
  return text;
}

/// Every program of the project, one after the other.
std::string programs() {
  std::string all;
  for (const char* folder : {"examples", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".cpp") all += without_indentation(entry.path());
    }
  }
  return all;
}

}  // namespace

TEST_CASE("documents: every block of C++ stands, line for line, in a file that is compiled") {
  std::vector<fs::path> documents{root / "README.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  const std::string compiled = programs(), opening = "```cpp\n";
  int blocks = 0;
  for (const fs::path& document : documents) {
    const std::string text = without_indentation(document);
    for (std::size_t at = text.find(opening); at != text.npos; at = text.find(opening, at + 1)) {
      const std::size_t begin = at + opening.size();
      const std::string block = text.substr(begin, text.find("```\n", begin) - begin);
      CHECK_MESSAGE(compiled.find(block) != compiled.npos, document.string() << ":\n" << block);
      ++blocks;
    }
  }
  CHECK(blocks > 30);
}
