// What rows in bf16 want of the simd vocabulary of AVX-512 besides. Included by
// arch/amx/kernels.hpp.

/// `lanes` bytes without a sign; and the number of each lane, 0, 1, ..
inline Words load_bytes(const std::byte* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return reinterpret_cast<Words>(_mm512_cvtepu8_epi32(bytes));
}
inline Words lane_numbers() { return Words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }

/// Two vectors rounded as store_bfloats does, with the numbers of both in turn: even[0] odd[0]
/// even[1] odd[1] and so on.
inline void store_bfloat_pairs(bf16* p, Floats even, Floats odd) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512i both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
  _mm512_storeu_si512(p, _mm512_permutexvar_epi16(order, both));
}
