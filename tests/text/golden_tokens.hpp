// The token ids that llama.cpp gives, from tests/golden/tokenizers/ (described in
// golden/README.md): lines of `bytes in hex TAB flags TAB ids`.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "imbrex/text/vocabulary.hpp"

namespace imbrex::tests {

struct GoldenTokens {
  std::string text;
  bool special = false;  ///< control tokens parsed
  bool invalid = false;  ///< not UTF-8: llama.cpp replaces what it cannot read
  bool lossy = false;    ///< llama.cpp's ids do not spell the text
  std::vector<token_t> ids;
};

inline std::string golden_tokenizer_path(const std::string& name) {
  return std::string(IMBREX_GOLDEN_DIR) + "/tokenizers/" + name;
}

/// The cases of a file; the test fails where it cannot be read.
inline std::vector<GoldenTokens> read_golden_tokens(const std::string& name) {
  std::ifstream file(golden_tokenizer_path(name));
  REQUIRE(file.good());
  std::vector<GoldenTokens> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string hex, flags, ids;
    std::getline(fields, hex, '\t');
    std::getline(fields, flags, '\t');
    std::getline(fields, ids);
    GoldenTokens golden;
    for (std::size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2) {
      golden.text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    golden.special = flags.find("special") != flags.npos;
    golden.invalid = flags.find("invalid") != flags.npos;
    golden.lossy = flags.find("lossy") != flags.npos;
    std::istringstream numbers(ids);
    for (token_t id; numbers >> id;) golden.ids.push_back(id);
    cases.push_back(golden);
  }
  return cases;
}

}  // namespace imbrex::tests
