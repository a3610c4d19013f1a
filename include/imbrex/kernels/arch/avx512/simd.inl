// The simd vocabulary in AVX-512 (F, BW, DQ, VL). Included by arch/avx512/kernels.hpp.

inline constexpr const char* set_name = "avx512";

using Floats = __m512;
using Words [[gnu::vector_size(64)]] = std::int32_t;
inline constexpr index_t lanes = 16;
inline constexpr int gemm_rows = 14;  // by two vectors: 28 sums, 2 of weights, 1 of x, of 32

inline Floats broadcast(float x) { return _mm512_set1_ps(x); }

inline Floats load(const std::byte* p) { return _mm512_loadu_ps(p); }
inline Floats load(const float* p) { return _mm512_loadu_ps(p); }

/// The first n < lanes floats, and zeros.
inline Floats load_part(const void* p, index_t n) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1u), p);
}

inline void store(float* p, Floats v) { _mm512_storeu_ps(p, v); }

/// The first n < lanes floats.
inline void store_part(float* p, Floats v, index_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1u), v);
}

/// a b + c, rounded once.
inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }

inline float sum(Floats v) {
  const __m256 upper = _mm512_extractf32x8_ps(v, 1);
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), upper);
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  s = _mm_add_ss(s, _mm_movehdup_ps(s));
  return _mm_cvtss_f32(s);
}

inline float load_half(const std::byte* p) {
  std::uint16_t bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}

/// `lanes` stored numbers as floats.
inline Floats load_halves(const std::byte* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

inline Floats load_bfloats(const std::byte* p) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

inline Floats load_int8s(const std::byte* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
}

/// The lower, and the upper, four bits of `lanes` bytes.
inline Floats load_low_nibbles(const std::byte* p) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return _mm512_cvtepi32_ps(_mm512_and_si512(wide, _mm512_set1_epi32(15)));
}
inline Floats load_high_nibbles(const std::byte* p) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return _mm512_cvtepi32_ps(_mm512_srli_epi32(wide, 4));
}

/// The transpose of four words in four vectors, in each 16 bytes.
[[gnu::always_inline]] inline void transpose_words(const __m512i (&v)[4], Words (&words)[4]) {
  const __m512i low01 = _mm512_unpacklo_epi32(v[0], v[1]),
                high01 = _mm512_unpackhi_epi32(v[0], v[1]),
                low23 = _mm512_unpacklo_epi32(v[2], v[3]),
                high23 = _mm512_unpackhi_epi32(v[2], v[3]);
  words[0] = reinterpret_cast<Words>(_mm512_unpacklo_epi64(low01, low23));
  words[1] = reinterpret_cast<Words>(_mm512_unpackhi_epi64(low01, low23));
  words[2] = reinterpret_cast<Words>(_mm512_unpacklo_epi64(high01, high23));
  words[3] = reinterpret_cast<Words>(_mm512_unpackhi_epi64(high01, high23));
}

/// Words j = 0 .. 3 of `lanes` rows: word j of row i, at p + i stride + 4 j, in lane i of words[j].
/// The 16 bytes of row 4 c + i go to part c of vector i; then each part is transposed in place.
[[gnu::always_inline]] inline void load_words(const std::byte* p, index_t stride,
                                              Words (&words)[4]) {
  __m512i v[4];
#pragma GCC unroll 4
  for (index_t i = 0; i < 4; ++i) {
    const std::byte* row = p + i * stride;
    v[i] = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
    row += 4 * stride;
    v[i] = _mm512_inserti32x4(v[i], _mm_loadu_si128(reinterpret_cast<const __m128i*>(row)), 1);
    row += 4 * stride;
    v[i] = _mm512_inserti32x4(v[i], _mm_loadu_si128(reinterpret_cast<const __m128i*>(row)), 2);
    row += 4 * stride;
    v[i] = _mm512_inserti32x4(v[i], _mm_loadu_si128(reinterpret_cast<const __m128i*>(row)), 3);
  }
  transpose_words(v, words);
}

/// The half in the lower 16 bits of each word.
inline Floats halves(Words w) {
  return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(w)));
}

/// The greater of two, lane by lane; and the greatest lane.
inline Words greater_words(Words a, Words b) {
  return reinterpret_cast<Words>(
      _mm512_max_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
inline std::int32_t greatest(Words w) {
  return _mm512_reduce_max_epi32(reinterpret_cast<__m512i>(w));
}

inline std::int32_t sum(Words w) { return _mm512_reduce_add_epi32(reinterpret_cast<__m512i>(w)); }

/// Floats as integers, to nearest, halves to even.
inline Words to_nearest(Floats v) { return reinterpret_cast<Words>(_mm512_cvtps_epi32(v)); }

/// Integers from -128 to 127 as bytes.
inline void store_int8s(std::int8_t* p, Words w) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(w)));
}

/// Lane by lane the larger, and the smaller, one; b where either is a NaN.
inline Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
inline Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }

inline float largest(Floats v) {
  const __m256 half = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  m = _mm_max_ss(m, _mm_movehdup_ps(m));
  return _mm_cvtss_f32(m);
}

/// p 2^n for whole n. A NaN stays one.
inline Floats times_power_of_two(Floats p, Floats n) { return _mm512_scalef_ps(p, n); }

/// The same: other sets have a shorter way for n <= 0.
inline Floats times_small_power_of_two(Floats p, Floats n) { return times_power_of_two(p, n); }

/// Half as many doubles, in pairs for a vector of floats.
using Doubles = __m512d;
using Longs [[gnu::vector_size(64)]] = std::int64_t;

inline Doubles broadcast_double(double x) { return _mm512_set1_pd(x); }

/// The two halves of a vector of floats; and back, rounded.
inline Doubles low_doubles(Floats v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
inline Doubles high_doubles(Floats v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
inline Floats to_floats(Doubles low, Doubles high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}

inline Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }

inline double sum(Doubles v) {
  const __m256d half = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
  const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
  return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/// Lanes 2i and 2i + 1 exchanged.
inline Floats swap_pairs(Floats v) { return _mm512_permute_ps(v, 0xB1); }

/// a[0] b[0] a[1] b[1] and so on: two vectors.
inline void store_interleaved(float* p, Floats a, Floats b) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  store(p, _mm512_permutex2var_ps(a, low, b));
  store(p + lanes, _mm512_permutex2var_ps(a, high, b));
}

/// Rows of x that a product in floats takes at a time.
inline constexpr int dot_rows = 4;

/// A word from each of `lanes` rows, or blocks, stride bytes apart.
inline Words load_word(const std::byte* p, index_t stride) {
  const __m256i lower = reinterpret_cast<__m256i>(avx2::load_word(p, stride)),
                upper = reinterpret_cast<__m256i>(avx2::load_word(p + 8 * stride, stride));
  return reinterpret_cast<Words>(_mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1));
}

inline Words rotate_right(Words w, Words by) {
  return reinterpret_cast<Words>(
      _mm512_rorv_epi32(reinterpret_cast<__m512i>(w), reinterpret_cast<__m512i>(by)));
}

/// 16 in byte i of each word whose bit 4 j + i is set.
inline Words fifth_bits(Words w, int j) {
  const int byte = 0x01010101 * (j / 2);
  const __m512i spread = _mm512_shuffle_epi8(
      reinterpret_cast<__m512i>(w),
      _mm512_add_epi32(_mm512_set1_epi32(byte), _mm512_broadcast_i32x4(_mm_setr_epi32(
                                                    0, 0x04040404, 0x08080808, 0x0C0C0C0C))));
  const __m512i bit = _mm512_set1_epi32(j % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
  return reinterpret_cast<Words>(_mm512_maskz_set1_epi8(_mm512_test_epi8_mask(spread, bit), 16));
}

/// Word 4 l + j of four blocks, in lanes 4 l to 4 l + 3 of words[j].
[[gnu::always_inline]] inline void load_pieces(const std::byte* p, index_t stride,
                                               Words (&words)[4]) {
  const __m512i v[4] = {_mm512_loadu_si512(p), _mm512_loadu_si512(p + stride),
                        _mm512_loadu_si512(p + 2 * stride), _mm512_loadu_si512(p + 3 * stride)};
  transpose_words(v, words);
}

/// The same of 32 bytes as often as they fit, from their unit-th vector on.
template <int unit>
[[gnu::always_inline]] inline void load_pieces_of_32(const std::byte* p, index_t stride,
                                                     Words (&words)[4]) {
  __m512i v[4];
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s, p += stride) {
    v[s] = _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  transpose_words(v, words);
}

/// The same of 16 bytes, as often as they fit.
[[gnu::always_inline]] inline void load_repeated(const std::byte* p, index_t stride,
                                                 Words (&words)[4]) {
  __m512i v[4];
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s, p += stride) {
    v[s] = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  transpose_words(v, words);
}
