// Scaled dot-product attention in one pass over the keys: the online softmax of Milakov, Gimelshein
// (2018), tile by tile as in FlashAttention (Dao et al. 2022). Scores never leave the stack.
//
// Traffic, in floats, for Tq queries, H heads over K key heads, S visible keys per query, head size
// d (value size the same). With R = attention_rows = 32 rows of queries in a tile (R K / H queries,
// all the heads that share a key head) and B = attention_keys = 64 keys in a tile:
//
//     q     read   Tq H d          once per key tile, from cache after the first
//     k, v  read   2 S Tq H d / R  from memory: each key tile once per tile of queries; the R rows
//                                  find it in cache, where 2 B d floats fit (64 kB at d = 128)
//     out   write  Tq H d          and read and written in cache once per key tile, S / B times
//     stack        B + 2 R floats  of a work item, whatever Tq and Tk are
//
// T x T scores written and read would be 4 S Tq H floats more. In decoding (Tq = 1) the keys and
// values of a sequence are read exactly once: 2 S K d.
#pragma once

#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/tiles/attention.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// For query row i and head h, over the keys j that args.mask shows to i, with k = h / (H/K):
///
///     s_j = scale q_ih . key_jk,  then  cap tanh(s_j / cap)  if soft_cap is not 0
///     out_ih = sum_j e^(s_j - L) value_jk,  log_sum_exp_ih = L = log sum_j e^(s_j)
///
/// A query that sees no key gets zeros, and -inf for L. (Nothing stands for "masked": masked keys
/// are not touched, and any finite score counts.) A row's result does not depend on the rows
/// computed with it.
inline void attention(const AttentionArgs& args) {
  if (args.q.rows == 0 || args.q.heads == 0) return;
  const tiles::QueryTiling tiling(args.q.rows, args.q.heads, args.kv_heads);
  // An item takes a tile of queries and its mirror image: a causal mask then costs all items alike.
  const index_t pairs = ceil_div(tiling.query_tiles, 2);
  parallel_for(tiling.head_tiles * pairs, [&](index_t item) {
    const index_t head_tile = item / pairs, early = item % pairs;
    const index_t late = tiling.query_tiles - 1 - early;
    tiles::attend(args, tiling.tile(head_tile, early));
    if (late != early) tiles::attend(args, tiling.tile(head_tile, late));
  });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
