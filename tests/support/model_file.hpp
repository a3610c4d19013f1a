// Where the real model is: the environment variable IMBREX_MODEL.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace imbrex::tests {

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The path of the model. Where there is none, the test fails; with IMBREX_OFFLINE set it gets ""
/// and says that it is skipped, and must return.
inline std::string model_file() {
  const std::string path = environment("IMBREX_MODEL");
  if (std::ifstream(path).good()) return path;
  const std::string offline = environment("IMBREX_OFFLINE");
  if (offline != "" && offline != "0" && offline != "OFF") {
    MESSAGE("skipped: IMBREX_OFFLINE is set and there is no model at '" << path << "'");
    return "";
  }
  FAIL("IMBREX_MODEL = '" << path << "': expected the path of SmolLM2-135M-Instruct.Q4_1.gguf");
  return "";
}

}  // namespace imbrex::tests
