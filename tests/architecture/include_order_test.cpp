// The order of the folders holds in the library as it stands, and the checker sees what is wrong.
#include "tests/architecture/include_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

using architecture::faults;

namespace {

/// Every header under include/, by its path as it is included.
std::map<std::string, std::string> all_headers() {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> headers;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(IMBREX_INCLUDE_DIR)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    headers[fs::relative(entry.path(), IMBREX_INCLUDE_DIR).generic_string()] =
        std::string(std::istreambuf_iterator<char>(file), {});
  }
  return headers;
}

const std::string once = "#pragma once\n";

/// The headers of other libraries that `path` and what it includes need.
std::set<std::string> needs(const std::map<std::string, std::string>& headers,
                            const std::string& path) {
  std::set<std::string> seen{path}, needed;
  std::vector<std::string> left{path};
  while (!left.empty()) {
    const std::string& text = headers.at(left.back());
    left.pop_back();
    for (std::size_t at = text.find("#include "); at != text.npos;
         at = text.find("#include ", at + 1)) {
      const std::size_t open = at + 9, close = text.find_first_of(">\"", open + 1);
      const std::string included = text.substr(open + 1, close - open - 1);
      if (text[open] == '"') {
        if (seen.insert(included).second) left.push_back(included);
      } else if (included == "pcre2.h" || included.find('/') != included.npos) {
        if (!included.starts_with("sys/")) needed.insert(included);
      }
    }
  }
  return needed;
}

}  // namespace

TEST_CASE("every header keeps the order") {
  const auto headers = all_headers();
  CHECK(headers.size() > 20);
  for (const auto& [path, text] : headers) {
    for (const std::string& fault : faults(path, text)) FAIL_CHECK(fault);
  }
}

TEST_CASE("every header of a folder with an umbrella is in the umbrella") {
  const auto headers = all_headers();
  for (const auto& [path, text] : headers) {
    const std::string folder(architecture::folder_of(path));
    // A door has an umbrella of its own: formats.hpp needs no library of JSON.
    const bool json = path.starts_with("imbrex/formats/json");
    const auto umbrella = headers.find("imbrex/" + (json ? "json" : folder) + ".hpp");
    const bool in_subfolder = std::count(path.begin(), path.end(), '/') > 2;
    if (folder.empty() || in_subfolder || umbrella == headers.end()) continue;
    CHECK_MESSAGE(umbrella->second.find('"' + path + '"') != std::string::npos,
                  umbrella->first << " does not include " << path);
  }
}

TEST_CASE("who includes an umbrella needs the libraries it names, and no other") {
  const auto headers = all_headers();
  const auto first = [&](const std::string& path) {
    std::set<std::string> libraries;
    for (const std::string& header : needs(headers, path)) {
      libraries.insert(header.substr(0, header.find_first_of("./")));
    }
    return libraries;
  };
  using Set = std::set<std::string>;
  CHECK(first("imbrex/imbrex.hpp") == Set{});
  for (const char* none : {"base", "tensor", "formats"}) {
    CHECK(first("imbrex/" + std::string(none) + ".hpp") == Set{});
  }
  CHECK(first("imbrex/json.hpp") == Set{"nlohmann"});
  CHECK(first("imbrex/text.hpp") == Set{"pcre2"});
  CHECK(first("imbrex/generation.hpp") == Set{"pcre2"});
}

TEST_CASE("what the checker lets pass") {
  const std::vector<std::pair<std::string, std::string>> right = {
      {"imbrex/tensor/view.hpp", "#include <string>\n#include \"imbrex/base/index.hpp\"\n"},
      {"imbrex/tensor/view.hpp", "#include \"imbrex/tensor/shape.hpp\"\n"},
      {"imbrex/text/split.hpp", "#include <pcre2.h>\n#include \"imbrex/formats/gguf.hpp\"\n"},
      {"imbrex/interop/eigen.hpp", "#include <Eigen/Core>\n"},
      {"imbrex/kernels/arch/avx2/dot.hpp", "#include <immintrin.h>\n"},
      {"imbrex/base/threads.hpp", "#if IMBREX_HAS_OPENMP\n#include <omp.h>\n#endif\n"},
      {"imbrex/base/errors.hpp", "[[noreturn]] inline void f() { throw 1; }\n"},
      {"imbrex/tensor/view.hpp",
       "// throws; catch it\nconst char* s = \"throw 'catch\";\nint n = 1'000;\n"},
      {"imbrex/tensor.hpp", "// All.\n\n#include \"imbrex/tensor/view.hpp\"\n"},
  };
  for (const auto& [path, text] : right) {
    CAPTURE(text);
    CHECK(faults(path, once + text) == std::vector<std::string>());
  }
  CHECK(faults("imbrex/kernels/tiles/dot.inl", "inline void f() {}\n").empty());
}

TEST_CASE("what the checker finds") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"imbrex/base/index.hpp", "#include \"imbrex/tensor/shape.hpp\"\n"},
      {"imbrex/formats/gguf.hpp", "#include \"imbrex/kernels/matmul.hpp\"\n"},
      {"imbrex/kernels/matmul.hpp", "#include \"imbrex/formats/gguf.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "#include \"imbrex/text/split.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "#  include \"imbrex/model/config.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "#include \"imbrex/tensor.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "#include \"imbrex/imbrex.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "#include \"../tensor/view.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "#include \"operand.hpp\"\n"},
      {"imbrex/kernels/gemm.hpp", "#include <Eigen/Core>\n"},
      {"imbrex/layers/linear.hpp", "#include <omp.h>\n"},
      {"imbrex/layers/linear.hpp", "#include <nlohmann/json.hpp>\n"},
      {"imbrex/layers/linear.hpp", "#include <boost/any.hpp>\n"},
      {"imbrex/layers/linear.hpp", "#include \"imbrex/odds/ends.hpp\"\n"},
      {"imbrex/layers/linear.hpp", "inline void f() { throw 1; }\n"},
      {"imbrex/base/errors.hpp", "inline void f() { try { g(); } catch (...) {} }\n"},
      {"imbrex/odds/ends.hpp", "\n"},
      {"imbrex/tensor.hpp", "inline int f() { return 1; }\n"},
      {"imbrex/tensor/view.hpp", std::string(450, '\n')},
  };
  for (const auto& [path, text] : wrong) {
    CAPTURE(path);
    CAPTURE(text);
    CHECK(faults(path, once + text).size() == 1);
  }
  CHECK(faults("imbrex/tensor/view.hpp", "inline void f() {}\n").size() == 1);
  CHECK(faults("imbrex/kernels/tiles/dot.inl", "#include <cmath>\n").size() == 1);
}
