// Which folder includes which, drawn from the #include lines, is what docs/architecture.md shows.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/architecture/include_order.hpp"
#include "tests/support/text.hpp"

using architecture::Folder;
using architecture::folder_of;
using architecture::folders;
using imbrex::tests::contents;

namespace {

namespace fs = std::filesystem;

/// (from, to): a header of the one folder includes a header of the other.
using Graph = std::set<std::pair<std::string, std::string>>;

/// Adds what the header `path`, "imbrex/tensor/view.hpp", says in its text. Each folder that has
/// headers stands for itself.
void add(Graph& graph, const std::string& path, const std::string& text) {
  const std::string from(folder_of(path)), opening = "#include \"";
  if (from.empty()) return;  // an umbrella
  graph.emplace(from, from);
  for (std::size_t at = text.find(opening); at != text.npos; at = text.find(opening, at + 1)) {
    const std::size_t begin = at + opening.size();
    graph.emplace(from, folder_of(text.substr(begin, text.find('"', begin) - begin)));
  }
}

Graph graph_of_the_library() {
  Graph graph;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(IMBREX_INCLUDE_DIR)) {
    if (!entry.is_regular_file()) continue;
    add(graph, fs::relative(entry.path(), IMBREX_INCLUDE_DIR).generic_string(),
        contents(entry.path()));
  }
  return graph;
}

/// A row a folder, the highest number first, a column each folder below it: x where it includes.
std::string draw(const Graph& graph) {
  std::vector<Folder> there;
  for (const Folder& folder : folders) {
    const std::string name(folder.name);
    if (graph.count({name, name}) > 0) there.push_back(folder);
  }
  std::string text(15, ' ');
  for (std::size_t i = 0; i + 1 < there.size(); ++i) text.append(" ").append(there[i].name);
  for (std::size_t row = there.size(); row-- > 0;) {
    const std::string name(there[row].name);
    std::string line = " ";
    line.append(std::to_string(there[row].number)).append(" ").append(name);
    line.resize(15, ' ');
    for (std::size_t i = 0; i < row; ++i) {
      const std::string column(there[i].name);
      line.append(1 + column.size() / 2, ' ');
      line += graph.count({name, column}) > 0 ? 'x' : '.';
      line.append(column.size() - column.size() / 2 - 1, ' ');
    }
    text += '\n';
    text += line.substr(0, line.find_last_not_of(' ') + 1);
  }
  return text + "\n";
}

/// The block behind `marker` in a document.
std::string block_behind(const std::string& document, const std::string& marker) {
  const std::string opening = "\n```text\n";
  const std::size_t at = document.find(marker);
  REQUIRE(at != document.npos);
  REQUIRE(document.substr(at + marker.size(), opening.size()) == opening);
  const std::size_t begin = at + marker.size() + opening.size();
  return document.substr(begin, document.find("```\n", begin) - begin);
}

}  // namespace

TEST_CASE("the picture of the folders in docs/architecture.md is the one that the includes draw") {
  const fs::path root = fs::path(IMBREX_INCLUDE_DIR).parent_path();
  const std::string shown =
      block_behind(contents(root / "docs/architecture.md"), "<!-- include graph -->");
  const std::string drawn = draw(graph_of_the_library());
  CHECK_MESSAGE(shown == drawn, "docs/architecture.md shows:\n"
                                    << shown << "the #include lines draw:\n"
                                    << drawn);
}

TEST_CASE("what is drawn of a few headers") {
  Graph graph;
  add(graph, "imbrex/base/index.hpp", "#include <cstdint>\n");
  add(graph, "imbrex/tensor/view.hpp",
      "#include \"imbrex/base/index.hpp\"\n#include \"imbrex/tensor/shape.hpp\"\n");
  add(graph, "imbrex/layers/linear.hpp", "#include \"imbrex/tensor/view.hpp\"\n");
  add(graph, "imbrex/layers.hpp", "#include \"imbrex/formats/gguf.hpp\"\n");
  CHECK(draw(graph) ==
        "                base tensor\n"
        " 3 layers         .     x\n"
        " 1 tensor         x\n"
        " 0 base\n");
}
