// The main() of the test programs. Unless IMBREX_ARITHMETIC says otherwise, f32 is the arithmetic:
// most tests hold results to the bounds of float. Those of int8 choose it themselves.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

// Under the address sanitizer, too, an allocation that is too large fails as it does without.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

int main(int argc, char** argv) {
  setenv("IMBREX_ARITHMETIC", "f32", 0);  // of the programs that tests run, too
  return doctest::Context(argc, argv).run();
}
