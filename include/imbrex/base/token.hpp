// Tokens.
#pragma once

#include <cstdint>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// A token of the vocabulary, by number.
using token_t = std::int32_t;

}  // namespace imbrex::inline IMBREX_ABI
