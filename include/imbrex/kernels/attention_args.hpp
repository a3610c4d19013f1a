// The operands of attention.
#pragma once

#include "imbrex/kernels/mask.hpp"
#include "imbrex/kernels/operands.hpp"

namespace imbrex::kernels {

/// Queries, keys and values of one sequence, and where the result goes. Key j of key head k starts
/// at keys + j * k_key_stride + k * k_head_stride and has q.head_dim floats; its value likewise,
/// with out.head_dim floats. Sizes were checked by the layer: q.heads is a multiple of kv_heads,
/// and out has the rows and heads of q.
struct AttentionArgs {
  Heads out{};                                  ///< [Tq][H][value dim]; overlaps no operand
  ConstHeads q{};                               ///< [Tq][H][d]
  const float* keys = nullptr;                  ///< [Tk][K][d]
  const float* values = nullptr;                ///< [Tk][K][value dim]
  index_t kv_heads = 0;                         ///< K; query head h reads key head h / (H/K)
  index_t key_count = 0;                        ///< Tk
  index_t k_key_stride = 0, k_head_stride = 0;  ///< in floats
  index_t v_key_stride = 0, v_head_stride = 0;  ///< in floats
  float scale = 1;                              ///< of q.k; 1/sqrt(d) in most models
  Mask mask{};
  float soft_cap = 0;            ///< cap tanh(s/cap) on scaled scores; 0: none
  float* log_sum_exp = nullptr;  ///< [Tq][H] natural logarithms, or null
};

}  // namespace imbrex::kernels
