// A group's integer sums in the micro-kernel of gemm in integers, where products of bytes come as
// sums of two in 16 bits. Included by arch/avx2/kernels.hpp behind tiles/panel_int8.inl; sets that
// add products to words have tiles/sum_bytes.inl.
//
// As many products are added up in 16 bits as fit there, before they become words: of numbers to 15
// all 8 steps of a group, to 31 four, to 63 two. A step of four inputs is then 2 instructions, and
// a third for a group; floats take 4 for as many products.

/// The largest number of a format, as far as these sums depend on it.
inline constexpr int most_that_counts(int most) { return most; }

/// low[r] and high[r]: where the sum of group g starts, + sum over k of w[k] q[k] of row r, for the
/// two vectors of outputs. Signed numbers are in two parts, lower and upper half, one after the
/// other: q = lower + 16 upper.
template <int Numbers, int Most, bool Offset, int R>
[[gnu::always_inline]] inline void sum_bytes(const GroupOf<Numbers, Most>& group, const Int8Row* x,
                                             index_t g, Words (&low)[R], Words (&high)[R]) {
  constexpr int steps = Numbers / 4, parts = Most == signed_most ? signed_parts : 1;
  constexpr int fit = 32767 / (2 * 127 * (parts == 2 ? 15 : Most)), run = fit < steps ? fit : steps;
  static_assert(steps % run == 0);
  const auto* q = reinterpret_cast<const std::int8_t*>(x) + g * Numbers;  // q comes first in a row
#pragma GCC unroll 8
  for (int first = 0; first < parts * steps; first += run) {
    Pairs low_pairs[R], high_pairs[R];
#pragma GCC unroll 8
    for (int j = first; j < first + run; ++j) {
      const Words w0 = group.w[j][0], w1 = group.w[j][1];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const auto* bytes = q + r * static_cast<index_t>(sizeof(Int8Row)) + 4 * (j % steps);
        const Words v = broadcast_bytes(bytes);
        const Pairs p0 = multiply_bytes(w0, v), p1 = multiply_bytes(w1, v);
        low_pairs[r] = j == first ? p0 : low_pairs[r] + p0;
        high_pairs[r] = j == first ? p1 : high_pairs[r] + p1;
        // Compilers would make all products first, and keep them in memory.
        asm("" : "+x"(low_pairs[r]), "+x"(high_pairs[r]));
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Words start = sum_of_none<Offset>(x[r], g);
      const std::int16_t factor = first < steps ? 1 : 16;
      low[r] = (first == 0 ? start : low[r]) + sum_of_pairs(low_pairs[r], factor);
      high[r] = (first == 0 ? start : high[r]) + sum_of_pairs(high_pairs[r], factor);
    }
  }
}
