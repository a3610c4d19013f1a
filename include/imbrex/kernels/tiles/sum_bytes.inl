// A group's integer sums in the micro-kernel of gemm in integers, where one instruction multiplies
// bytes and adds four products to a word. Included behind panel_int8.inl inside the regions of sets
// that have it; AVX2 has arch/avx2/sum_bytes.inl.

/// The largest number of a format, as far as these sums depend on it.
inline constexpr int most_that_counts(int) { return 0; }

/// low[r] and high[r]: where the sum of group g starts, + sum over k of w[k] q[k] of row r, for the
/// two vectors of outputs. A step of four inputs loads 2 vectors of weights and R words of x for
/// 2 R multiplications.
template <int Numbers, int Most, bool Offset, int R>
[[gnu::always_inline]] inline void sum_bytes(const GroupOf<Numbers, Most>& group, const Int8Row* x,
                                             index_t g, Words (&low)[R], Words (&high)[R]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) low[r] = high[r] = sum_of_none<Offset>(x[r], g);
  const auto* q = reinterpret_cast<const std::int8_t*>(x) + g * Numbers;  // q comes first in a row
#pragma GCC unroll 8
  for (int j = 0; j < Numbers / 4; ++j) {
    keep_order();
    const Words w0 = group.w[j][0], w1 = group.w[j][1];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Words v = broadcast_bytes(q + r * static_cast<index_t>(sizeof(Int8Row)) + 4 * j);
      low[r] = multiply_add_bytes(w0, v, low[r]);
      high[r] = multiply_add_bytes(w1, v, high[r]);
    }
  }
}
