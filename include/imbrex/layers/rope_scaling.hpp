// How RoPE's frequencies are changed for contexts longer than those of the training.
#pragma once

#include <cstdint>

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// How the frequencies theta^(-2i/rotary_dims) are changed for longer contexts: linear divides all
/// by `factor`; llama3 by wavelength (Llama 3.1); yarn as in Peng et al. 2023.
enum class RopeScalingKind : std::uint8_t { none, linear, llama3, yarn };

/// Each kind reads its own fields.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::none;
  double factor = 1;             ///< linear, llama3, yarn
  double low_freq_factor = 1;    ///< llama3: slower than this many turns in original_context:
                                 ///< divided by factor
  double high_freq_factor = 4;   ///< llama3: faster than this: left alone; blended in between
  index_t original_context = 0;  ///< llama3, yarn: the context it was first trained on
  double beta_fast = 32;         ///< yarn: turns in original_context above which left alone
  double beta_slow = 1;          ///< yarn: turns below which divided by factor
  double attention_factor = 0;   ///< yarn: multiplies cos and sin; 0 is 0.1 ln(factor) + 1
  friend constexpr bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

}  // namespace imbrex::inline IMBREX_ABI
