// What VNNI adds to the simd vocabulary of AVX-512, and products in integers want. Included by
// arch/avx512_vnni/kernels.hpp.

inline constexpr int int8_rows = 6;  // by two vectors: 24 sums, 2 of weights, 1 of x, of 32

/// To each word of c the sum of the products of its four bytes of a, unsigned, and of b, signed.
inline Words multiply_add_bytes(Words a, Words b, Words c) {
  return reinterpret_cast<Words>(_mm512_dpbusd_epi32(
      reinterpret_cast<__m512i>(c), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

inline Words broadcast_word(std::int32_t word) {
  return reinterpret_cast<Words>(_mm512_set1_epi32(word));
}

inline void store_words(std::int32_t* p, Words w) {
  _mm512_storeu_si512(p, reinterpret_cast<__m512i>(w));
}

inline Words add_words(Words a, Words b) { return a + b; }

template <auto two>
[[gnu::always_inline]] inline __m512i combine(__m512i a, __m512i b) {
  return reinterpret_cast<__m512i>(two(reinterpret_cast<Words>(a), reinterpret_cast<Words>(b)));
}

/// In lane i all lanes of v[i], combined. Vectors are taken in pairs, then pairs of these: halves
/// of both, combined, are one vector with parts of each.
template <auto two>
[[gnu::always_inline]] inline Words combine_lanes(const Words (&v)[16]) {
  __m512i fours[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i a = reinterpret_cast<__m512i>(v[4 * i]),
                  b = reinterpret_cast<__m512i>(v[4 * i + 1]),
                  c = reinterpret_cast<__m512i>(v[4 * i + 2]),
                  d = reinterpret_cast<__m512i>(v[4 * i + 3]);
    const __m512i ab = combine<two>(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)),
                  cd = combine<two>(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    fours[i] = combine<two>(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  }
  const __m512i low = combine<two>(_mm512_shuffle_i32x4(fours[0], fours[1], 0x44),
                                   _mm512_shuffle_i32x4(fours[0], fours[1], 0xEE)),
                high = combine<two>(_mm512_shuffle_i32x4(fours[2], fours[3], 0x44),
                                    _mm512_shuffle_i32x4(fours[2], fours[3], 0xEE));
  return reinterpret_cast<Words>(
      combine<two>(_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xDD)));
}

/// The greatest lane of each vector, and the sum of its lanes.
inline Words greatest_of(const Words (&v)[16]) { return combine_lanes<greater_words>(v); }
inline Words sums_of(const Words (&v)[16]) { return combine_lanes<add_words>(v); }

/// The sum of 16 numbers.
inline std::int32_t sum_of_16(const std::int8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return sum(reinterpret_cast<Words>(_mm512_cvtepi8_epi32(bytes)));
}

/// Outputs that a product of rounded activations takes at a time: 16 of 32 registers are weights.
inline constexpr int rounded_outputs = 2;

/// Between steps of a group, where a compiler has to be kept from taking them out of order.
inline void keep_order() {}

/// Signed bytes are multiplied 128 too large; so often the sum of the other factor is taken off.
inline constexpr int signed_zero = 128, signed_bytes = 128;
inline Words prepare_signed(Words w) { return w ^ static_cast<std::int32_t>(0x80808080); }

/// Signed bytes as gemm in integers has them, and their zero there.
inline constexpr int signed_parts = 1, split_zero = signed_zero;
inline void split_signed(Words w, Words (&parts)[1]) { parts[0] = prepare_signed(w); }

/// Compilers would load a vector of x for each of its products; the loop around waits for loads.
[[gnu::always_inline]] inline void keep_loaded(Words& v) { asm("" : "+v"(v)); }
