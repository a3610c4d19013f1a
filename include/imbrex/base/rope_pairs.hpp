// The two ways to pair the elements of a head that RoPE turns.
#pragma once

#include <cstdint>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Which elements of a head RoPE turns together: (2i, 2i+1), or (i, i + rotary_dims/2). The same
/// model with the rows of its q and k weights permuted.
enum class RopePairs : std::uint8_t { interleaved, half };

}  // namespace imbrex::inline IMBREX_ABI
