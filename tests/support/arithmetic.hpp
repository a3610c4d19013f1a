// Using an arithmetic for a while.
#pragma once

#include "imbrex/base/arithmetic.hpp"

namespace imbrex::tests {

/// Uses an arithmetic, and at the end the one from before.
class WithArithmetic {
 public:
  explicit WithArithmetic(Arithmetic wanted) : before_(arithmetic_detail::chosen.load()) {
    use_arithmetic(wanted);
  }
  WithArithmetic(const WithArithmetic&) = delete;
  WithArithmetic& operator=(const WithArithmetic&) = delete;
  ~WithArithmetic() { arithmetic_detail::chosen.store(before_); }

 private:
  int before_;  // also "not chosen yet"
};

}  // namespace imbrex::tests
