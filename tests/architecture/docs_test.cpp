// The programs in the documents are ones that are compiled; links lead somewhere; the README names
// every page and every program, and files.md every key.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "imbrex/checkpoint/gguf_keys.hpp"

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

std::vector<fs::path> all_documents() {
  std::vector<fs::path> documents{root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  return documents;
}

/// What a heading can be linked by: "## The same bits" by "the-same-bits".
std::set<std::string> anchors(const fs::path& document) {
  std::set<std::string> found;
  std::ifstream file(document);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    found.insert(anchor);
  }
  return found;
}

/// What "[text](target)" leads to, wherever it stands in a text.
std::vector<std::string> link_targets(const std::string& text) {
  std::vector<std::string> targets;
  for (std::size_t at = text.find("]("); at != text.npos; at = text.find("](", at + 1)) {
    const std::size_t end = text.find(')', at);
    if (end == text.npos) break;
    const std::string target = text.substr(at + 2, end - at - 2);
    if (target.find(' ') == target.npos) targets.push_back(target);  // else a lambda: [](T x)
  }
  return targets;
}

}  // namespace

TEST_CASE("documents: every block of C++ stands, line for line, in a file that is compiled") {
  const std::string compiled = programs(), opening = "```cpp\n";
  int blocks = 0;
  for (const fs::path& document : all_documents()) {
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

TEST_CASE("documents: every link leads to a file that is there, and to a heading in it") {
  int links = 0;
  for (const fs::path& document : all_documents()) {
    for (const std::string& target : link_targets(without_indentation(document))) {
      if (target.starts_with("http")) continue;
      const std::size_t hash = target.find('#');
      const std::string name = target.substr(0, hash);
      const fs::path file = name.empty() ? document : document.parent_path() / name;
      CAPTURE(document.string());
      CAPTURE(target);
      CHECK(fs::exists(file));
      if (hash != target.npos) CHECK(anchors(file).count(target.substr(hash + 1)) == 1);
      ++links;
    }
  }
  CHECK(links > 20);
}

TEST_CASE("docs/files.md names every key that is read, or may say one thing only") {
  const std::string page = without_indentation(root / "docs" / "files.md");
  for (const imbrex::gguf_keys::KeyRow& key : imbrex::gguf_keys::key_table) {
    CHECK_MESSAGE(page.find("`" + std::string(key.name) + "`") != page.npos, key.name);
  }
}

TEST_CASE("README: its tables name every page of docs/ and every program of examples/") {
  const std::string readme = without_indentation(root / "README.md");
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    const std::string page = entry.path().filename().string();
    if (!page.ends_with(".md")) continue;
    CHECK_MESSAGE(readme.find("](docs/" + page + ")") != readme.npos, "no link to docs/" << page);
  }
  for (const auto& entry : fs::directory_iterator(root / "examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string program = entry.path().stem().string();
    const bool quoted_whole = readme.find("examples/" + program + ".cpp") != readme.npos;
    CHECK_MESSAGE((quoted_whole || readme.find("`" + program + "`") != readme.npos),
                  "no word of examples/" << program << ".cpp");
  }
}
