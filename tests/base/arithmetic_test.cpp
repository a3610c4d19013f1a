#include "imbrex/base/arithmetic.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>

using namespace imbrex;

namespace {

/// Sets IMBREX_ARITHMETIC, or removes it; puts it and the choice back as they were.
class Environment {
 public:
  explicit Environment(const char* value) : active_(arithmetic_detail::chosen.load()) {
    if (const char* before = std::getenv("IMBREX_ARITHMETIC")) before_ = before;
    value != nullptr ? setenv("IMBREX_ARITHMETIC", value, 1) : unsetenv("IMBREX_ARITHMETIC");
    arithmetic_detail::chosen.store(-1);
  }
  ~Environment() {
    before_ ? setenv("IMBREX_ARITHMETIC", before_->c_str(), 1) : unsetenv("IMBREX_ARITHMETIC");
    arithmetic_detail::chosen.store(active_);
  }

 private:
  int active_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("arithmetic: int8 unless something else is asked for") {
  for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
    const Environment environment(nothing);
    CHECK(active_arithmetic() == Arithmetic::int8);
  }
}

TEST_CASE("arithmetic: the environment names it, on first use") {
  for (const Arithmetic wanted : {Arithmetic::f32, Arithmetic::int8}) {
    const Environment environment(name(wanted));
    CHECK(active_arithmetic() == wanted);
    setenv("IMBREX_ARITHMETIC",
           name(wanted == Arithmetic::f32 ? Arithmetic::int8 : Arithmetic::f32), 1);
    CHECK(active_arithmetic() == wanted);
  }
}

TEST_CASE("arithmetic: a name that is none is an error that lists those there are") {
  for (const char* unknown : {"f16", "INT8", "int8 ", "f"}) {
    const Environment environment(unknown);
    try {
      active_arithmetic();
      FAIL_CHECK("accepted " << unknown);
    } catch (const ConfigError& error) {
      CHECK(error.key() == "IMBREX_ARITHMETIC");
      CHECK(error.value() == unknown);
      CHECK(std::string(error.what()).find("f32 or int8") != std::string::npos);
    }
  }
}

TEST_CASE(
    "arithmetic: a choice holds; a number that stands for none is an error, and changes nothing") {
  const Environment environment("int8");
  use_arithmetic(Arithmetic::f32);
  CHECK(active_arithmetic() == Arithmetic::f32);
  for (const Arithmetic wanted : {Arithmetic::int8, Arithmetic::f32}) {
    use_arithmetic(wanted);
    CHECK(active_arithmetic() == wanted);
    for (const int number : {-1, arithmetic_count, 1 << 30}) {
      const Arithmetic none = static_cast<Arithmetic>(number);
      CHECK(std::string(name(none)) == "unknown");
      CHECK_THROWS_AS(use_arithmetic(none), const ConfigError&);
      CHECK(active_arithmetic() == wanted);
    }
  }
}
