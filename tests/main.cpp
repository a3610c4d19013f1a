// The main() of the test programs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Under the address sanitizer, too, an allocation that is too large fails as it does without.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
