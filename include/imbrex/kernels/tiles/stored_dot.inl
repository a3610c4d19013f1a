// Dot products of a row of x with a stored row, straight from its format. Written once over the
// simd vocabulary and included inside each instruction set's region and namespace: no includes, no
// guard, and nothing of the standard library is called.
//
// Each function returns the sum over i < n of w[i] x[i], n a whole number of blocks of the format,
// and reads `w` at any alignment. Several sums run side by side, to hide the latency of an addition
// (4 cycles); their order is fixed by n, so a row gives the same bits wherever it is computed.

/// Numbers one by one: how `lanes` of them are read, and of how many rows of x, with how many sums
/// each, so that the sums and a vector of weights fit the registers.
struct StoredF32 {
  static constexpr index_t bytes = 4;
  static constexpr int sums = 4;
  static Floats read(const std::byte* w) { return load(w); }
};
struct StoredF16 {
  static constexpr index_t bytes = 2;
  static constexpr int sums = 2;
  static Floats read(const std::byte* w) { return load_halves(w); }
};
struct StoredBF16 {
  static constexpr index_t bytes = 2;
  static constexpr int sums = 2;
  static Floats read(const std::byte* w) { return load_bfloats(w); }
};

/// How far ahead of the bytes in use memory is asked for, into second-level cache: so little that
/// what a processor calls for by itself goes on beside it, and what it does not, as a new page
/// begins, is under way. Addresses are integers there, as they may lie behind the matrix.
inline constexpr index_t prefetch_ahead = 512;

template <index_t Bytes>
[[gnu::always_inline]] inline void prefetch(const std::byte* w) {
  const auto ahead = reinterpret_cast<std::uintptr_t>(w) + std::uintptr_t{prefetch_ahead};
#pragma GCC unroll 16
  for (std::uintptr_t i = 0; i < std::uintptr_t{Bytes}; i += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + i), 0, 2);
  }
}

/// A last part of fewer than `lanes` numbers, moved to where a whole vector can be read.
struct Tail {
  alignas(64) std::byte bytes[4 * lanes];

  Tail(const std::byte* w, index_t size) : bytes{} {
    __builtin_memcpy(bytes, w, static_cast<std::size_t>(size));
  }
};

/// The products of a stored row with M rows of x. A row's bits do not depend on M.
template <class Stored, int M>
inline void row_dots(const std::byte* w, const float* const (&x)[M], index_t n, float (&out)[M]) {
  constexpr index_t size = Stored::bytes, many = Stored::sums * lanes;
  Floats s[M][Stored::sums];
#pragma GCC unroll 4
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < Stored::sums; ++j) s[m][j] = broadcast(0);
  }
  index_t i = 0;
  for (; i + many <= n; i += many) {
    prefetch<size * many>(w + size * i);
#pragma GCC unroll 4
    for (int j = 0; j < Stored::sums; ++j) {
      const Floats v = Stored::read(w + size * (i + j * lanes));
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m) s[m][j] = multiply_add(v, load(x[m] + i + j * lanes), s[m][j]);
    }
  }
  for (; i + lanes <= n; i += lanes) {
    const Floats v = Stored::read(w + size * i);
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) s[m][0] = multiply_add(v, load(x[m] + i), s[m][0]);
  }
  if (i < n) {
    const Tail tail(w + size * i, size * (n - i));
    const Floats v = Stored::read(tail.bytes);
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) s[m][1] = multiply_add(v, load_part(x[m] + i, n - i), s[m][1]);
  }
#pragma GCC unroll 4
  for (int m = 0; m < M; ++m) {
    if constexpr (Stored::sums == 4) {
      out[m] = sum((s[m][0] + s[m][1]) + (s[m][2] + s[m][3]));
    } else {
      out[m] = sum(s[m][0] + s[m][1]);
    }
  }
}

template <class Stored>
inline float stored_dot(const std::byte* w, const float* x, index_t n) {
  const float* const rows[1] = {x};
  float out[1];
  row_dots<Stored, 1>(w, rows, n, out);
  return out[0];
}

/// The same for up to dot_rows rows of x, x_stride floats apart; a missing one is the first.
template <class Stored>
inline void stored_dots(const std::byte* w, const float* x, index_t x_stride, index_t rows,
                        index_t n, float* out) {
  const float* in[dot_rows];
  float sums[dot_rows];
  for (int m = 0; m < dot_rows; ++m) in[m] = x + (m < rows ? m * x_stride : 0);
  row_dots<Stored, dot_rows>(w, in, n, sums);
  for (int m = 0; m < rows; ++m) out[m] = sums[m];
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
