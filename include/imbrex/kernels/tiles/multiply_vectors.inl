// Products of several vectors of bytes, one after the other. Written over the simd vocabulary and
// included in front of rounded_product.inl inside the regions whose vocabulary has none of its own.

/// To each word of c[i] the sum of the products of its four bytes of n vectors: of a[i], at most
/// `most`, and of those at b, -127 to 127.
template <int most, int n, int N>
[[gnu::always_inline]] inline void multiply_add_vectors(const Words (&a)[N][n], const std::byte* b,
                                                        Words (&c)[N]) {
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    Words v;
    __builtin_memcpy(&v, b + 4 * lanes * j, sizeof v);
    keep_loaded(v);
#pragma GCC unroll 2
    for (int i = 0; i < N; ++i) c[i] = multiply_add_bytes(a[i][j], v, c[i]);
  }
}
