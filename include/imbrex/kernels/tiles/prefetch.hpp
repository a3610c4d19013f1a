// Stored rows called for before they are wanted.
#pragma once

#include <cstddef>

#include "imbrex/base/index.hpp"

namespace imbrex::kernels::tiles::inline IMBREX_ABI {

/// Calls for the stored rows of panels, whose lines lie too far apart for processors to see them
/// coming: a few rows beside each tile of the panels before them.
class Prefetch {
 public:
  /// For the run's `bytes` of `rows` rows from `start` on, within `tiles` calls of `some`.
  Prefetch(const std::byte* start, index_t row_bytes, index_t rows, index_t bytes, index_t tiles)
      : at_(start), row_bytes_(row_bytes), left_(rows), bytes_(bytes) {
    at_once_ = ceil_div(greater(rows, 0), tiles);
  }

  void some() {
    for (index_t i = 0; i < at_once_ && left_ > 0; ++i, --left_, at_ += row_bytes_) {
      for (index_t byte = 0; byte < bytes_; byte += 64) __builtin_prefetch(at_ + byte, 0, 2);
      __builtin_prefetch(at_ + bytes_ - 1, 0, 2);
    }
  }

 private:
  const std::byte* at_;
  index_t row_bytes_, left_, bytes_, at_once_;
};

}  // namespace imbrex::kernels::tiles::inline IMBREX_ABI
