// Activations rounded to int8 by the rule of reference/round_activations.hpp, which they match bit
// for bit. Included inside each region.
//
// Magnitudes are compared as integers: of floats without a sign these have the same order, and
// infinity and NaN come last.

/// Bits of a float: all but its sign; those of infinity; and of 2^-119, reference::least_rounded.
inline constexpr std::int32_t magnitude_bits = 0x7FFFFFFF, infinity_bits = 0x7F800000,
                              least_rounded_bits = (127 - 119) << 23;

/// v, which is about -127 to 127, to nearest. (Where a program has floats rounded upward, 127 / m
/// times m may be above 127, and rounds to 128, or -128 as a byte.)
inline Words rounded_at_most_127(Floats v) {
  const Floats most = broadcast(127);
  return to_nearest(v > most ? most : v);
}

inline void round_activations(const float* x, index_t n, const RoundedRow& to) {
  constexpr index_t vectors = rounded_block / lanes;
  for (index_t block = 0; block < n / rounded_block; ++block) {
    const float* in = x + block * rounded_block;
    Words most = reinterpret_cast<Words>(load(in)) & magnitude_bits, sums = most - most;
#pragma GCC unroll 8
    for (index_t v = 1; v < vectors; ++v) {
      most = greater_words(most, reinterpret_cast<Words>(load(in + v * lanes)) & magnitude_bits);
    }
    const std::int32_t bits = greatest(most);
    const bool rounds = bits >= least_rounded_bits && bits < infinity_bits;
    float m = 0;
    __builtin_memcpy(&m, &bits, sizeof m);
    const Floats scale = broadcast(rounds ? 127.0f / m : 0.0f);
    to.d[block] = rounds ? m / 127.0f : bits >= infinity_bits ? __builtin_nanf("") : 0.0f;
#pragma GCC unroll 8
    for (index_t v = 0; v < vectors; ++v) {
      const Words q = rounds ? rounded_at_most_127(load(in + v * lanes) * scale) : sums;
      store_int8s(to.q + block * rounded_block + v * lanes, q);
      sums = sums + q;
    }
    to.sum[block] = sum(sums);
  }
}
