// What products in integers want of AVX2. Included by arch/avx2/kernels.hpp behind its simd.inl.

inline constexpr int int8_rows = 4;  // by two vectors: 8 sums of pairs, 2 of weights, 1 of x, of 16

/// Sums of two products, 16 bits each.
using Pairs [[gnu::vector_size(32)]] = std::int16_t;

/// In each of 16 the sum of two products of bytes of a, unsigned, with those of b, signed. At most
/// 32767, or it is cut off.
inline Pairs multiply_bytes(Words a, Words b) {
  return reinterpret_cast<Pairs>(
      _mm256_maddubs_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

/// The two sums of each word, times factor, in one.
inline Words sum_of_pairs(Pairs v, std::int16_t factor) {
  return reinterpret_cast<Words>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(v), _mm256_set1_epi16(factor)));
}

inline Words broadcast_word(std::int32_t word) {
  return reinterpret_cast<Words>(_mm256_set1_epi32(word));
}

/// The sum of 16 numbers.
inline std::int32_t sum_of_16(const std::int8_t* p) {
  const __m256i numbers =
      _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return sum(sum_of_pairs(reinterpret_cast<Pairs>(numbers), 1));
}

/// Signed bytes as gemm in integers has them, as products of two of 255 do not fit in 16 bits: the
/// lower and the upper half of q + 128. And their zero there.
inline constexpr int signed_parts = 2, split_zero = 128;
inline void split_signed(Words w, Words (&parts)[2]) {
  const Words q = w ^ static_cast<std::int32_t>(0x80808080);
  parts[0] = q & 0x0F0F0F0F;
  parts[1] = (q >> 4) & 0x0F0F0F0F;
}
