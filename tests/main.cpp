// The main() of the test programs. Unless IMBREX_ARITHMETIC says otherwise, f32 is the arithmetic:
// most tests hold results to the bounds of float. Those of int8 choose it themselves. With
// IMBREX_TEST_ISA set, the tests run on that instruction set; where the machine lacks it, the
// program returns 77, "skipped". Tests whose names match IMBREX_TEST_EXCLUDE, doctest's patterns
// between commas, are left out and counted as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "imbrex/base/isa.hpp"

namespace {

bool machine_has(const std::string& set) {
  for (int i = 0; i < imbrex::isa_count; ++i) {
    const auto isa = static_cast<imbrex::Isa>(i);
    if (set == imbrex::name(isa)) return imbrex::available(isa);
  }
  return true;  // no set at all: active_isa says so
}

}  // namespace

// Under the address sanitizer, too, an allocation that is too large fails as it does without.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

int main(int argc, char** argv) {
  setenv("IMBREX_ARITHMETIC", "f32", 0);  // of the programs that tests run, too
  if (const char* set = std::getenv("IMBREX_TEST_ISA"); set != nullptr && *set != '\0') {
    if (!machine_has(set)) {
      std::printf("skipped: this machine has no %s\n", set);
      return 77;
    }
    setenv("IMBREX_ISA", set, 1);
  }
  doctest::Context context(argc, argv);
  if (const char* names = std::getenv("IMBREX_TEST_EXCLUDE"); names != nullptr) {
    context.addFilter("test-case-exclude", names);
  }
  return context.run();
}
