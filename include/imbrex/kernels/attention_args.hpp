// The operands of attention.
#pragma once

#include "imbrex/kernels/mask.hpp"
#include "imbrex/kernels/operands.hpp"
#include "imbrex/kernels/stored_floats.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Queries, keys and values of one sequence, and where the result goes. Key j of key head k starts
/// at number j * k_key_stride + k * k_head_stride of `keys` and has q.head_dim numbers; its value
/// likewise, with out.head_dim numbers. Sizes were checked by the layer: q.heads is a multiple of
/// kv_heads, and out has the rows and heads of q.
struct AttentionArgs {
  Heads out{};                                  ///< [Tq][H][value dim]; overlaps no operand
  ConstHeads q{};                               ///< [Tq][H][d]
  StoredFloats keys{};                          ///< [Tk][K][d]
  StoredFloats values{};                        ///< [Tk][K][value dim]
  index_t kv_heads = 0;                         ///< K; query head h reads key head h / (H/K)
  index_t key_count = 0;                        ///< Tk
  index_t k_key_stride = 0, k_head_stride = 0;  ///< in numbers
  index_t v_key_stride = 0, v_head_stride = 0;  ///< in numbers
  float scale = 1;                              ///< of q.k; 1/sqrt(d) in most models
  Mask mask{};
  float soft_cap = 0;            ///< cap tanh(s/cap) on scaled scores; 0: none
  float* log_sum_exp = nullptr;  ///< [Tq][H] natural logarithms, or null
};

}  // namespace imbrex::kernels::inline IMBREX_ABI
