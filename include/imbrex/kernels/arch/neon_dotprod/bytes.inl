// Products of bytes with the dot product extension, and what products in integers want. Included by
// arch/neon_dotprod/kernels.hpp behind arch/neon/simd.inl.

inline constexpr int int8_rows = 6;  // by two vectors: 24 sums, 2 of weights, 1 of x, of 32

/// Outputs whose weights are taken out together in products of rounded activations: 16 registers.
inline constexpr int rounded_outputs = 2;

/// To each word of c the sum of the products of its four bytes of a, and of b, both signed. (By its
/// name, as clang 14 has no function for it unless the program is compiled for the extension.)
inline Words multiply_add_bytes(Words a, Words b, Words c) {
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(c) : "w"(a), "w"(b));
  return c;
}

inline Words broadcast_word(std::int32_t word) { return vdupq_n_s32(word); }

/// The sum of 16 numbers.
inline std::int32_t sum_of_16(const std::int8_t* p) { return vaddlvq_s8(vld1q_s8(p)); }

/// Signed bytes as gemm in integers has them, and their zero there.
inline constexpr int signed_parts = 1, split_zero = signed_zero;
inline void split_signed(Words w, Words (&parts)[1]) { parts[0] = w; }
