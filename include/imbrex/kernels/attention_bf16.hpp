// Attention of many queries in bf16 tiles: kernels/attention.hpp, with everything that is
// multiplied rounded to bf16.
//
// Traffic of first-level cache for a block of 32 rows by 32 keys, in kB, with d numbers of a head
// and of a value: keys and queries d / 8 for d / 8 products of tiles (16 cycles each), values and
// weights likewise; sums of scores 4 written, read, written, read again, weights 2 written; results
// d / 8 read and written once for each tile of up to 256 keys. Nothing grows with the number of
// keys.
#pragma once

#include "imbrex/base/arithmetic.hpp"
#include "imbrex/kernels/arch/kernels.hpp"
#include "imbrex/kernels/attention_args.hpp"
#include "imbrex/kernels/tiles/attention_bf16.hpp"
#include "imbrex/kernels/tiles/attention_split.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// Up to this many queries are few, and attention is in f32: those of tokens one by one, and of
/// passes whose rows have the bits that they have alone (products of so few rows are gemv's).
inline constexpr index_t attention_few_queries = 16;

/// Whether attention is in bf16: the set has it, it is for these operands (many queries, and heads
/// that its buffers have room for), and the arithmetic lets numbers be rounded. Throws ConfigError
/// as active_arithmetic does, where the rest holds.
inline bool uses_attention_bf16(const Kernels& kernels, const AttentionArgs& a) {
  const index_t shorter = lesser(a.q.head_dim, a.out.head_dim);
  const index_t longer = greater(a.q.head_dim, a.out.head_dim);
  return kernels.bf16_attention.weigh != nullptr && a.q.rows > attention_few_queries &&
         shorter > 0 && longer <= tiles::attention_bf16_numbers &&
         active_arithmetic() == Arithmetic::int8;
}

/// Rows of an item at least, where there are few key heads: packing keys and values takes, for 16
/// numbers of 32 of each, some 80 cycles, products of them with 128 rows 256.
inline constexpr index_t attention_bf16_least_rows = 128;

/// Attention as `attention` has it, by products of tiles: q, keys, values and the weights e^(s -
/// peak) are rounded to bf16 (to nearest, halves to even, subnormal numbers to zeros); products of
/// these are exact. Scores, scaled and capped, peaks, sums, and the sum of the weights, which are
/// added up before they are rounded, are f32. For operands of which uses_attention_bf16 is true.
///
/// Roundings to bf16 change a number by 2^-8 of itself at most. So with A = the largest
/// |scale| sum |q_e key_e| of the keys that a row sees, V = the largest |value|, S keys of d
/// numbers, u = 2^-24 and the errors F of f32,
///
///     score  E = (2^-7 + 2^-16) A + F(score),   F(score) = (d + 4) u A + 10 u soft_cap
///     L      E + F,                             F = (2 A + 8 + 2 S + 9 S / 32) u
///     out    (E + 2^-7 + 2^-16 + F) V
///
/// since scores that change by E at most move a mean of values by E sum w_j |v_j - mean| <= E V. A
/// q or key of bfloat_end or more counts as infinite. Values of that size are added in f32, those
/// that are infinite or none reach just the rows that see them.
///
/// A row's bits depend neither on threads nor on the rows computed with it; they do differ from
/// those it has among few queries, in f32.
inline void attention_bf16(const Bf16Gemm& gemm, const Bf16Attention& kernel,
                           const AttentionArgs& args) {
  const index_t rows = args.q.rows * (args.q.heads / args.kv_heads);
  const index_t most = tiles::Bf16Sizes(args.q.head_dim, args.out.head_dim).rows;
  const index_t tiles =
      tiles::row_tiles(args.kv_heads, rows, most, lesser(most, attention_bf16_least_rows));
  const index_t step = ceil_div(ceil_div(rows, tiles), tile_pair) * tile_pair;  // whole blocks
  tiles::deal_rows(args.kv_heads, rows, tiles, step,
                   [&](index_t kv_head, index_t first, index_t count) {
                     tiles::AttentionInTiles(gemm, kernel, args, kv_head, first, count).attend();
                   });
}

}  // namespace imbrex::kernels::inline IMBREX_ABI
