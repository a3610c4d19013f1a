// The scales of Q4_K and Q5_K: eight pairs of 6 bits in twelve bytes.
#pragma once

#include <cstdint>

#include "imbrex/kernels/quant/block.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Factors of a group of 32 numbers: x_i = d scale q_i - dmin offset.
struct ScaleK {
  int scale, offset;  // 0 to 63
};

/// The pair of group g, 0 to 7. Groups 0 to 3 have the lower six bits of bytes g and g + 4; groups
/// 4 to 7 the halves of byte g + 4, and as upper two bits those left over in bytes g - 4 and g.
constexpr ScaleK scale_k(const std::uint8_t (&scales)[12], int g) {
  if (g < 4) return {scales[g] & 63, scales[g + 4] & 63};
  return {(scales[g + 4] & 15) | (scales[g - 4] >> 6 << 4),
          (scales[g + 4] >> 4) | (scales[g] >> 6 << 4)};
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
