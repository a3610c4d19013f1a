// The main() of the tests that need the real model: the environment variable IMBREX_MODEL says
// where it is. Without it they fail; with IMBREX_OFFLINE set they return 77, "skipped". As in
// main.cpp, f32 is the arithmetic where nothing else is chosen.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

int main(int argc, char** argv) {
  setenv("IMBREX_ARITHMETIC", "f32", 0);
  const std::string model = environment("IMBREX_MODEL"), offline = environment("IMBREX_OFFLINE");
  if (std::ifstream(model).good()) return doctest::Context(argc, argv).run();
  if (offline != "" && offline != "0" && offline != "OFF") {
    std::printf("skipped: IMBREX_OFFLINE is set and there is no model at '%s'\n", model.c_str());
    return 77;
  }
  std::printf(
      "failed: IMBREX_MODEL = '%s': expected the path of SmolLM2-135M-Instruct.Q4_1.gguf\n"
      "(cmake --build <build directory> --target model fetches it)\n",
      model.c_str());
  return 1;
}
