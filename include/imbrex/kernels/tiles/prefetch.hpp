// Stored rows called for before they are wanted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Calls for the stored rows of panels, whose lines lie too far apart for processors to see them
/// coming: a few rows beside each tile of the panels before them. Addresses are integers: behind
/// the last row they are those of nothing.
class Prefetch {
 public:
  /// For the run's `bytes` of `rows` rows from `start` on, within `tiles` calls of `some`.
  Prefetch(const std::byte* start, index_t row_bytes, index_t rows, index_t bytes, index_t tiles)
      : at_(reinterpret_cast<std::uintptr_t>(start)),
        row_bytes_(static_cast<std::uintptr_t>(row_bytes)),
        bytes_(static_cast<std::uintptr_t>(bytes)),
        left_(rows),
        at_once_(ceil_div(greater(rows, 0), tiles)) {}

  void some() {
    for (index_t i = 0; i < at_once_ && left_ > 0; ++i, --left_, at_ += row_bytes_) {
      for (std::uintptr_t byte = 0; byte < bytes_; byte += 64) call(at_ + byte);
      call(at_ + bytes_ - 1);
    }
  }

 private:
  static void call(std::uintptr_t line) {
    __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
  }

  std::uintptr_t at_, row_bytes_, bytes_;
  index_t left_, at_once_;
};

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
