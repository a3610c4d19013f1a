// What all examples with a command line have in common: help by two names, and no word is dropped.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

TEST_CASE("examples: --help and -h are the same text") {
  for (const std::string name :
       {"attention_by_hand", "attention_maps", "block_forward", "generate", "inspect",
        "memory_ledger", "online_softmax", "parameter_count", "prefill_and_decode", "rope_relative",
        "shape_trace", "why_sqrt_dk"}) {
    CAPTURE(name);
    const ProgramRun help = run_program(IMBREX_EXAMPLES + name, {"--help"});
    const ProgramRun short_help = run_program(IMBREX_EXAMPLES + name, {"-h"});
    CHECK(help.code == 0);
    CHECK(help.err == "");
    CHECK(help.out.find("usage: " + name) == 0);
    CHECK(short_help.code == 0);
    CHECK(short_help.out == help.out);
  }
}

TEST_CASE("examples: a program without options refuses words") {
  for (const std::string name : {"attention_by_hand", "block_forward"}) {
    CAPTURE(name);
    for (const char* word : {"more", "--svg", ""}) {
      CHECK(one_line_error(run_program(IMBREX_EXAMPLES + name, {word}), name) ==
            "unexpected argument '" + std::string(word) + "'; see --help");
    }
    CHECK(run_program(IMBREX_EXAMPLES + name, {}).code == 0);
  }
}

TEST_CASE("examples: a help that is the value of an option is that value") {
  CHECK(one_line_error(run_program(IMBREX_EXAMPLES "attention_maps", {"--model", "-h"}),
                       "attention_maps")
            .find("-h: ") == 0);
}

// What a script passes whose variable is not set: "--svg $FILE" must not go without a picture, nor
// "$MODEL" be the default one.
TEST_CASE("examples: an empty word is no file, and not left out") {
  for (const std::string name : {"inspect", "memory_ledger", "parameter_count", "rope_relative"}) {
    CAPTURE(name);
    CHECK(one_line_error(run_program(IMBREX_EXAMPLES + name, {""}), name) ==
          "unexpected argument ''; see --help");
  }
  for (const std::string name :
       {"attention_maps", "prefill_and_decode", "rope_relative", "why_sqrt_dk"}) {
    CAPTURE(name);
    CHECK(one_line_error(run_program(IMBREX_EXAMPLES + name, {"--svg", ""}), name) ==
          "--svg: expected a file's name");
  }
}
