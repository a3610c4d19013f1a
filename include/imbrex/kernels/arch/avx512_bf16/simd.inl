// What AVX512_BF16 adds to the simd vocabulary of AVX-512. Included by
// arch/avx512_bf16/kernels.hpp.

/// Two vectors, one behind the other, rounded to bf16: to nearest, halves to even. A NaN stays one;
/// subnormal numbers become zeros.
inline void store_bfloats(bf16* p, Floats low, Floats high) {
  _mm512_storeu_si512(p, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}

/// To each lane of c the products of its two numbers in bf16 of a and b: first that of the upper
/// half, then that of the lower one. Each is exact and added as by a fused multiply-add, rounded to
/// nearest, halves to even, whatever the thread's rounding is; subnormal numbers count as zeros, as
/// operands and as results (Intel SDM volume 2, VDPBF16PS).
inline Floats multiply_add_pairs(Floats a, Floats b, Floats c) {
#if defined(__clang__) && __clang_major__ < 17
  // By its name: clang 16 crashes on a number broadcast to a vector that is taken for bf16.
  asm("vdpbf16ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
#else
  return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
#endif
}
