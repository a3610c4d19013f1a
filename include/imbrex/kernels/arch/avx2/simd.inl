// The simd vocabulary in AVX2 with FMA and F16C. Included by arch/avx2/kernels.hpp.

inline constexpr const char* set_name = "avx2";

using Floats = __m256;
using Words [[gnu::vector_size(32)]] = std::int32_t;
inline constexpr index_t lanes = 8;
inline constexpr int gemm_rows = 6;  // by two vectors: 12 sums, 2 of weights, 1 of x, of 16

inline Floats broadcast(float x) { return _mm256_set1_ps(x); }

inline Floats load(const std::byte* p) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(p));
}
inline Floats load(const float* p) { return _mm256_loadu_ps(p); }

/// The first n < lanes lanes.
inline __m256i first_lanes(index_t n) {
  const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), place);
}

/// The first n < lanes floats, and zeros.
inline Floats load_part(const void* p, index_t n) {
  return _mm256_maskload_ps(static_cast<const float*>(p), first_lanes(n));
}

inline void store(float* p, Floats v) { _mm256_storeu_ps(p, v); }

/// The first n < lanes floats.
inline void store_part(float* p, Floats v, index_t n) { _mm256_maskstore_ps(p, first_lanes(n), v); }

/// a b + c, rounded once.
inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }

inline float sum(Floats v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
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
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

inline Floats load_bfloats(const std::byte* p) {
  const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

inline Floats load_int8s(const std::byte* p) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

/// The lower, and the upper, four bits of `lanes` bytes.
inline Floats load_low_nibbles(const std::byte* p) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  const __m256i wide = _mm256_cvtepu8_epi32(bytes);
  return _mm256_cvtepi32_ps(_mm256_and_si256(wide, _mm256_set1_epi32(15)));
}
inline Floats load_high_nibbles(const std::byte* p) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_cvtepu8_epi32(bytes), 4));
}

/// The transpose of four words in four vectors, in each 16 bytes.
[[gnu::always_inline]] inline void transpose_words(const __m256i (&v)[4], Words (&words)[4]) {
  const __m256i low01 = _mm256_unpacklo_epi32(v[0], v[1]),
                high01 = _mm256_unpackhi_epi32(v[0], v[1]),
                low23 = _mm256_unpacklo_epi32(v[2], v[3]),
                high23 = _mm256_unpackhi_epi32(v[2], v[3]);
  words[0] = reinterpret_cast<Words>(_mm256_unpacklo_epi64(low01, low23));
  words[1] = reinterpret_cast<Words>(_mm256_unpackhi_epi64(low01, low23));
  words[2] = reinterpret_cast<Words>(_mm256_unpacklo_epi64(high01, high23));
  words[3] = reinterpret_cast<Words>(_mm256_unpackhi_epi64(high01, high23));
}

/// Words j = 0 .. 3 of `lanes` rows: word j of row i, at p + i stride + 4 j, in lane i of words[j].
/// The 16 bytes of row 4 c + i go to part c of vector i; then each part is transposed in place.
[[gnu::always_inline]] inline void load_words(const std::byte* p, index_t stride,
                                              Words (&words)[4]) {
  __m256i v[4];
#pragma GCC unroll 4
  for (index_t i = 0; i < 4; ++i) {
    const std::byte *row = p + i * stride, *upper = row + 4 * stride;
    v[i] = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
    v[i] =
        _mm256_inserti128_si256(v[i], _mm_loadu_si128(reinterpret_cast<const __m128i*>(upper)), 1);
  }
  transpose_words(v, words);
}

/// The half in the lower 16 bits of each word.
inline Floats halves(Words w) {
  const __m256i low = _mm256_and_si256(reinterpret_cast<__m256i>(w), _mm256_set1_epi32(0xFFFF));
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
  return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}

/// The greater of two, lane by lane; and the greatest lane.
inline Words greater_words(Words a, Words b) {
  return reinterpret_cast<Words>(
      _mm256_max_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
inline std::int32_t greatest(Words w) {
  const __m256i v = reinterpret_cast<__m256i>(w);
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4E));
  return _mm_cvtsi128_si32(_mm_max_epi32(m, _mm_shuffle_epi32(m, 0xB1)));
}

inline std::int32_t sum(Words w) {
  const __m256i v = reinterpret_cast<__m256i>(w);
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
}

/// Floats as integers, to nearest, halves to even.
inline Words to_nearest(Floats v) { return reinterpret_cast<Words>(_mm256_cvtps_epi32(v)); }

/// Integers from -128 to 127 as bytes.
inline void store_int8s(std::int8_t* p, Words w) {
  const __m256i v = reinterpret_cast<__m256i>(w);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}

/// Lane by lane the larger, and the smaller, one; b where either is a NaN.
inline Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
inline Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }

inline float largest(Floats v) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  m = _mm_max_ss(m, _mm_movehdup_ps(m));
  return _mm_cvtss_f32(m);
}

/// p 2^n for p from 1/2 to 2 and whole n from -152 to 152, in two steps, as 2^n alone need not be a
/// normal float: the first is added to p's exponent. A NaN in p stays one.
inline Floats times_power_of_two(Floats p, Floats n) {
  const Words whole = reinterpret_cast<Words>(_mm256_cvtps_epi32(n)), half = whole >> 1;
  const Words first = reinterpret_cast<Words>(p) + (half << 23);
  const Words second = (whole - half + 127) << 23;
  return reinterpret_cast<Floats>(first) * reinterpret_cast<Floats>(second);
}

/// The same for n <= 0; 0 below 2^-125.
inline Floats times_small_power_of_two(Floats p, Floats n) {
  const __m256i bits = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);  // 0 of a NaN
  const __m256 scaled = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), bits));
  return _mm256_andnot_ps(_mm256_cmp_ps(n, _mm256_set1_ps(-125), _CMP_LT_OQ), scaled);
}

/// Half as many doubles, in pairs for a vector of floats.
using Doubles = __m256d;
using Longs [[gnu::vector_size(32)]] = std::int64_t;

inline Doubles broadcast_double(double x) { return _mm256_set1_pd(x); }

/// The two halves of a vector of floats; and back, rounded.
inline Doubles low_doubles(Floats v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
inline Doubles high_doubles(Floats v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
inline Floats to_floats(Doubles low, Doubles high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high),
                              1);
}

inline Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }

inline double sum(Doubles v) {
  const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/// Lanes 2i and 2i + 1 exchanged.
inline Floats swap_pairs(Floats v) { return _mm256_permute_ps(v, 0xB1); }

/// a[0] b[0] a[1] b[1] and so on: two vectors.
inline void store_interleaved(float* p, Floats a, Floats b) {
  const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
  store(p, _mm256_permute2f128_ps(low, high, 0x20));
  store(p + lanes, _mm256_permute2f128_ps(low, high, 0x31));
}

/// Rows of x that a product in floats takes at a time.
inline constexpr int dot_rows = 2;

/// Outputs that a product of rounded activations takes at a time: 8 of 16 registers are weights.
inline constexpr int rounded_outputs = 1;

/// A word from each of `lanes` rows, or blocks, stride bytes apart: loaded to all lanes, of which
/// one is kept. (A gather loads word by word as well, in more steps.)
inline Words load_word(const std::byte* p, index_t stride) {
  const auto word = [p, stride](index_t row) __attribute__((always_inline)) {
    std::int32_t w;
    __builtin_memcpy(&w, p + row * stride, sizeof w);
    return _mm256_set1_epi32(w);
  };
  const __m256i w01 = _mm256_blend_epi32(word(0), word(1), 0x02),
                w23 = _mm256_blend_epi32(word(2), word(3), 0x08),
                w45 = _mm256_blend_epi32(word(4), word(5), 0x20),
                w67 = _mm256_blend_epi32(word(6), word(7), 0x80);
  return reinterpret_cast<Words>(_mm256_blend_epi32(_mm256_blend_epi32(w01, w23, 0x0C),
                                                    _mm256_blend_epi32(w45, w67, 0xC0), 0xF0));
}

/// 16 in byte i of each word whose bit 4 j + i is set.
inline Words fifth_bits(Words w, int j) {
  const __m256i first = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0C0C0C0C, 0, 0x04040404,
                                          0x08080808, 0x0C0C0C0C);
  const __m256i spread =
      _mm256_shuffle_epi8(reinterpret_cast<__m256i>(w),
                          _mm256_add_epi32(first, _mm256_set1_epi32(0x01010101 * (j / 2))));
  const __m256i bit = _mm256_set1_epi32(j % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
  const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
  return reinterpret_cast<Words>(_mm256_and_si256(set, _mm256_set1_epi8(16)));
}

/// Word 4 l + j of four blocks, in lanes 4 l to 4 l + 3 of words[j].
[[gnu::always_inline]] inline void load_pieces(const std::byte* p, index_t stride,
                                               Words (&words)[4]) {
  __m256i v[4];
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s, p += stride) {
    v[s] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  transpose_words(v, words);
}

/// The same of 32 bytes as often as they fit, from their unit-th vector on.
template <int unit>
[[gnu::always_inline]] inline void load_pieces_of_32(const std::byte* p, index_t stride,
                                                     Words (&words)[4]) {
  load_pieces(p, stride, words);
}

/// The same of 16 bytes, as often as they fit.
[[gnu::always_inline]] inline void load_repeated(const std::byte* p, index_t stride,
                                                 Words (&words)[4]) {
  __m256i v[4];
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s, p += stride) {
    v[s] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  transpose_words(v, words);
}

/// The zero of signed bytes when they are multiplied, and their largest number in what follows.
inline constexpr int signed_zero = 0, signed_bytes = 128;
inline Words prepare_signed(Words w) { return w; }

/// In 16 bits the products of bytes of a, at most `most`, with those of b, in pairs: |a| b, signed
/// as a b, where they have a sign.
template <int most>
[[gnu::always_inline]] inline __m256i multiply_pairs(Words a, __m256i b) {
  const __m256i v = reinterpret_cast<__m256i>(a);
  if constexpr (most < signed_bytes) return _mm256_maddubs_epi16(v, b);
  return _mm256_maddubs_epi16(_mm256_abs_epi8(v), _mm256_sign_epi8(b, v));
}

/// To each word of c the sum of the products of its four bytes of n vectors: of a, and of those at
/// b, -127 to 127. As many are added up in 16 bits as fit there.
template <int most, int n>
[[gnu::always_inline]] inline void multiply_add_vectors(const Words (&a)[1][n], const std::byte* b,
                                                        Words (&c)[1]) {
  constexpr int fit = 32767 / (2 * 127 * most), many = fit < n ? fit : n;
  const auto* x = reinterpret_cast<const __m256i*>(b);
#pragma GCC unroll 8
  for (int j = 0; j < n; j += many) {
    __m256i pairs = multiply_pairs<most>(a[0][j], _mm256_loadu_si256(x + j));
#pragma GCC unroll 8
    for (int k = j + 1; k < j + many; ++k) {
      const __m256i more = multiply_pairs<most>(a[0][k], _mm256_loadu_si256(x + k));
      pairs = _mm256_add_epi16(pairs, more);
    }
    c[0] = c[0] + reinterpret_cast<Words>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
}
