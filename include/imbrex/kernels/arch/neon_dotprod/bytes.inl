// Products of bytes with the dot product extension. Included by arch/neon_dotprod/kernels.hpp
// behind arch/neon/simd.inl.

/// Rows of rounded activations that a product takes at a time.
inline constexpr int rounded_rows = 8;

/// To each word of c the sum of the products of its four bytes of a, and of b, both signed. (By its
/// name, as clang 14 has no function for it unless the program is compiled for the extension.)
inline Words multiply_add_bytes(Words a, Words b, Words c) {
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(c) : "w"(a), "w"(b));
  return c;
}

inline Words multiply_add_signed(Words a, Words b, Words c) { return multiply_add_bytes(a, b, c); }
