// Dot products of a row of x with a stored row, straight from its format. Written once over the
// simd vocabulary and included inside each instruction set's region and namespace: no includes, no
// guard, and nothing of the standard library is called.
//
// Each function returns the sum over i < n of w[i] x[i], n a whole number of blocks of the format,
// and reads `w` at any alignment. Several sums run side by side, to hide the latency of an addition
// (4 cycles); their order is fixed by n, so a row gives the same bits wherever it is computed.

inline float dot_f32(const std::byte* w, const float* x, index_t n) {
  Floats s0 = broadcast(0), s1 = s0, s2 = s0, s3 = s0;
  index_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = multiply_add(load(w + 4 * i), load(x + i), s0);
    s1 = multiply_add(load(w + 4 * (i + lanes)), load(x + i + lanes), s1);
    s2 = multiply_add(load(w + 4 * (i + 2 * lanes)), load(x + i + 2 * lanes), s2);
    s3 = multiply_add(load(w + 4 * (i + 3 * lanes)), load(x + i + 3 * lanes), s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = multiply_add(load(w + 4 * i), load(x + i), s0);
  if (i < n) s1 = multiply_add(load_part(w + 4 * i, n - i), load_part(x + i, n - i), s1);
  return sum((s0 + s1) + (s2 + s3));
}

/// A last part of fewer than `lanes` numbers of two bytes, moved to where a whole vector can be
/// read.
struct HalfTail {
  alignas(64) std::byte bytes[2 * lanes];

  HalfTail(const std::byte* w, index_t n) : bytes{} {
    __builtin_memcpy(bytes, w, static_cast<std::size_t>(2 * n));
  }
};

inline float dot_f16(const std::byte* w, const float* x, index_t n) {
  Floats s0 = broadcast(0), s1 = s0;
  index_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = multiply_add(load_halves(w + 2 * i), load(x + i), s0);
    s1 = multiply_add(load_halves(w + 2 * (i + lanes)), load(x + i + lanes), s1);
  }
  for (; i + lanes <= n; i += lanes) s0 = multiply_add(load_halves(w + 2 * i), load(x + i), s0);
  if (i < n) {
    const HalfTail tail(w + 2 * i, n - i);
    s1 = multiply_add(load_halves(tail.bytes), load_part(x + i, n - i), s1);
  }
  return sum(s0 + s1);
}

inline float dot_bf16(const std::byte* w, const float* x, index_t n) {
  Floats s0 = broadcast(0), s1 = s0;
  index_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = multiply_add(load_bfloats(w + 2 * i), load(x + i), s0);
    s1 = multiply_add(load_bfloats(w + 2 * (i + lanes)), load(x + i + lanes), s1);
  }
  for (; i + lanes <= n; i += lanes) s0 = multiply_add(load_bfloats(w + 2 * i), load(x + i), s0);
  if (i < n) {
    const HalfTail tail(w + 2 * i, n - i);
    s1 = multiply_add(load_bfloats(tail.bytes), load_part(x + i, n - i), s1);
  }
  return sum(s0 + s1);
}

/// Blocks of 32: a scale d (f16), then 32 q (int8); w = d q. Scaled once a block.
inline float dot_q8_0(const std::byte* w, const float* x, index_t n) {
  Floats total = broadcast(0);
  for (index_t i = 0; i < n; i += 32, w += 34) {
    Floats s = broadcast(0);
    for (index_t j = 0; j < 32; j += lanes) {
      s = multiply_add(load_int8s(w + 2 + j), load(x + i + j), s);
    }
    total = multiply_add(broadcast(load_half(w)), s, total);
  }
  return sum(total);
}

/// Blocks of 32: d (f16), then 16 bytes; w[j] = d (q - 8), the lower halves first.
inline float dot_q4_0(const std::byte* w, const float* x, index_t n) {
  const Floats eight = broadcast(8);
  Floats total = broadcast(0);
  for (index_t i = 0; i < n; i += 32, w += 18) {
    Floats s = broadcast(0);
    for (index_t j = 0; j < 16; j += lanes) {
      s = multiply_add(load_low_nibbles(w + 2 + j) - eight, load(x + i + j), s);
      s = multiply_add(load_high_nibbles(w + 2 + j) - eight, load(x + i + 16 + j), s);
    }
    total = multiply_add(broadcast(load_half(w)), s, total);
  }
  return sum(total);
}

/// Blocks of 32: d and m (f16), then 16 bytes; w[j] = d q + m.
inline float dot_q4_1(const std::byte* w, const float* x, index_t n) {
  Floats low = broadcast(0), high = low;
  for (index_t i = 0; i < n; i += 32, w += 20) {
    const Floats d = broadcast(load_half(w)), m = broadcast(load_half(w + 2));
    for (index_t j = 0; j < 16; j += lanes) {
      low = multiply_add(multiply_add(d, load_low_nibbles(w + 4 + j), m), load(x + i + j), low);
      high = multiply_add(multiply_add(d, load_high_nibbles(w + 4 + j), m), load(x + i + 16 + j),
                          high);
    }
  }
  return sum(low + high);
}
