#include "imbrex/base/isa.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

using namespace imbrex;

namespace {

/// Sets IMBREX_ISA, or removes it; puts it and the choice back as they were.
class Environment {
 public:
  explicit Environment(const char* value) : active_(active_isa()) {
    if (const char* before = std::getenv("IMBREX_ISA")) before_ = before;
    value != nullptr ? setenv("IMBREX_ISA", value, 1) : unsetenv("IMBREX_ISA");
  }
  ~Environment() {
    before_ ? setenv("IMBREX_ISA", before_->c_str(), 1) : unsetenv("IMBREX_ISA");
    use_isa(active_);
  }

 private:
  Isa active_;
  std::optional<std::string> before_;
};

std::vector<Isa> every_set() {
  std::vector<Isa> sets;
  for (int i = 0; i < isa_count; ++i) sets.push_back(static_cast<Isa>(i));
  return sets;
}

}  // namespace

TEST_CASE("the environment forces a set that the machine has") {
  for (const Isa isa : every_set()) {
    if (!available(isa)) continue;
    const Environment environment(name(isa));
    CHECK(isa_detail::choose_isa() == isa);
  }
  CHECK(available(Isa::scalar));
}

TEST_CASE("without a wish the best set is used, of those that need not be asked for") {
  const Environment environment(nullptr);
  const Isa best = isa_detail::choose_isa();
  CHECK(available(best));
  for (const Isa isa : every_set()) {
    if (available(isa) && isa != Isa::amx) CHECK(static_cast<int>(best) >= static_cast<int>(isa));
  }
  CHECK(best != Isa::amx);
  const Environment empty("");
  CHECK(isa_detail::choose_isa() == best);
}

TEST_CASE("a set that does not exist is an error that names those that do") {
  for (const char* unknown : {"avx9", "AVX2", "scalar ", "avx"}) {
    const Environment environment(unknown);
    try {
      isa_detail::choose_isa();
      FAIL_CHECK("accepted " << unknown);
    } catch (const ConfigError& error) {
      CHECK(error.key() == "IMBREX_ISA");
      CHECK(error.value() == unknown);
      CHECK(std::string(error.what()).find("scalar") != std::string::npos);
    }
  }
}

TEST_CASE("a number that stands for no set is an error, and changes nothing") {
  const Environment environment(nullptr);
  const Isa before = active_isa();
  for (const int number : {-1, isa_count, 7, 1 << 30}) {
    const Isa none = static_cast<Isa>(number);
    CHECK(std::string(name(none)) == "unknown");
    CHECK_FALSE(available(none));
    CHECK_THROWS_AS(use_isa(none), const ConfigError&);
    CHECK(active_isa() == before);
  }
}

TEST_CASE("a set can be chosen, and one that the machine lacks cannot") {
  const Environment environment(nullptr);
  for (const Isa isa : every_set()) {
    if (available(isa)) {
      use_isa(isa);
      CHECK(active_isa() == isa);
    } else {
      const Isa before = active_isa();
      CHECK_THROWS_AS(use_isa(isa), const ConfigError&);
      CHECK(active_isa() == before);
    }
  }
}
