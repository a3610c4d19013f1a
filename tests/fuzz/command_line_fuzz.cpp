// Any words as a command line of the examples, and as one of `generate`: a usage error or an
// option's own, one line without control characters, or arguments that hold what was said.
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/input.hpp"

#define main generate_main
#include "examples/generate.cpp"
#undef main

using fuzz::require;

namespace {

void check_message(const char* what) {
  for (const char* c = what; *c != '\0'; ++c) {
    require(static_cast<unsigned char>(*c) >= 0x20 && *c != 0x7F, "an error is one plain line");
  }
}

/// Takes the words one by one, as numbers of some kind where they are.
void take_all(int argc, char** argv, unsigned kind) {
  examples::CommandLine line(argc, argv);
  try {
    while (!line.done()) {
      const std::string_view option = line.take();
      if (kind == 0) line.number<index_t>("--option");
      if (kind == 1) line.number<std::uint64_t>("--option");
      if (kind == 2) line.number<double>("--option");
      if (kind == 3) line.value("--option");
      if (kind == 4) raise(examples::UsageError("unknown option " + printable(option)));
    }
  } catch (const examples::UsageError& error) {
    check_message(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.below(5);
  std::vector<std::string> words{"generate"};
  while (!input.empty() && words.size() < 64) words.emplace_back(input.text('\0'));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(words.size());
  take_all(argc, argv.data(), kind);
  try {
    const Arguments arguments = parse(argc, argv.data());
    require(arguments.help || !arguments.model.empty(),
            "without a model there is help, or an error");
    require(arguments.help || arguments.generation.max_tokens >= 0, "options are in their range");
  } catch (const Error& error) {
    check_message(error.what());
  }
  set_threads(0);
  return 0;
}
