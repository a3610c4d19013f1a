// The instruction sets that this machine has, and using one for a while.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "imbrex/kernels/arch/table.hpp"

namespace imbrex::tests {

inline std::vector<Isa> available_sets() {
  std::vector<Isa> sets;
  for (int i = 0; i < isa_count; ++i) {
    if (available(static_cast<Isa>(i))) sets.push_back(static_cast<Isa>(i));
  }
  return sets;
}

/// The set that IMBREX_ISA names; -1 where it is not set or names none.
inline int set_of_environment() {
  const char* wanted = std::getenv("IMBREX_ISA");
  for (int i = 0; wanted != nullptr && i < isa_count; ++i) {
    if (std::string(wanted) == name(static_cast<Isa>(i))) return i;
  }
  return -1;
}

/// Uses a set, and at the end the one from before.
class WithSet {
 public:
  explicit WithSet(Isa isa) : before_(isa_detail::chosen_isa.load()) { use_isa(isa); }
  ~WithSet() { isa_detail::chosen_isa.store(before_); }

 private:
  int before_;  // also "not chosen yet"
};

}  // namespace imbrex::tests
