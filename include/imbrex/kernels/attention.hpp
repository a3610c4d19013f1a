// Scaled dot-product attention in one pass over the keys: the online softmax of Milakov, Gimelshein
// (2018), tile by tile as in FlashAttention (Dao et al. 2022). Scores never leave the stack.
//
// Traffic, in floats, for Tq queries, H heads over K key heads, S visible keys per query, head size
// d (value size the same). With R = attention_rows = 126 rows that share packed keys (R K / H
// queries, with all the heads that share a key head), B = attention_tile(d) = 256 keys in a tile
// (d <= 128) and r = 14, 10 or 6 rows in registers:
//
//     k, v  read   2 S Tq H d / R  from memory: each tile once for R rows
//     k     write  S Tq H d / R    packed, to the second-level cache,
//     k, v  read   2 S Tq H d / r  and from there by each block of r rows
//     q     read   Tq H d S / B    once per tile, from cache after the first
//     out   read, write            Tq H d S / B each, in cache
//     stack        B d + 3 r (B + 32) + 16 B floats of a work item, whatever Tq and Tk are
//
// T x T scores written and read would be 4 S Tq H floats more. In decoding (Tq = 1) the keys and
// values of a sequence are read exactly once: 2 S K d.
#pragma once

#include "imbrex/kernels/arch/table.hpp"
#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/attention_bf16.hpp"
#include "imbrex/kernels/tiles/attention.hpp"
#include "imbrex/kernels/tiles/attention_split.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// For query row i and head h, over the keys j that args.mask shows to i, with k = h / (H/K):
///
///     s_j = scale q_ih . key_jk,  then  cap tanh(s_j / cap)  if soft_cap is not 0
///     out_ih = sum_j e^(s_j - L) value_jk,  log_sum_exp_ih = L = log sum_j e^(s_j)
///
/// A query that sees no key gets zeros, and -inf for L. (Nothing stands for "masked": what a query
/// does not see has no part in its result, and any finite score counts.) A row's bits do not depend
/// on the rows computed with it, but where uses_attention_bf16 says so: there more than
/// attention_few_queries queries are computed in tiles, and what is multiplied is rounded as
/// attention_bf16 says. Throws ConfigError as active_isa does, and there as active_arithmetic does.
inline void attention(const AttentionArgs& args) {
  if (args.q.rows == 0 || args.q.heads == 0) return;
  const Kernels& kernels = active_kernels();
  if (uses_attention_bf16(kernels, args)) {
    return attention_bf16(kernels.bf16, kernels.bf16_attention, args);
  }
  const Attention& kernel = kernels.attention;
  if (tiles::splits_keys(kernel, args)) return tiles::AttentionSplit(kernel, args).attend();
  const index_t rows = args.q.rows * (args.q.heads / args.kv_heads);
  const index_t tiles =
      tiles::row_tiles(args.kv_heads, rows, tiles::attention_rows, 3 * kernel.rows);
  tiles::deal_rows(args.kv_heads, rows, tiles, ceil_div(rows, tiles),
                   [&](index_t kv_head, index_t first, index_t count) {
                     tiles::attend_rows(kernel, args, kv_head, first, count);
                   });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
