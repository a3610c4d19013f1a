// Using an arithmetic for a while.
#pragma once

#include "imbrex/base/arithmetic.hpp"

namespace imbrex::tests {

/// Uses an arithmetic, and at the end the one from before.
class WithArithmetic {
 public:
  explicit WithArithmetic(Arithmetic arithmetic) : before_(active_arithmetic()) {
    use_arithmetic(arithmetic);
  }
  ~WithArithmetic() { use_arithmetic(before_); }

 private:
  Arithmetic before_;
};

}  // namespace imbrex::tests
