// Products of stored rows with activations rounded to int8 (reference/round_activations.hpp):
// integers are multiplied, four bytes to a word, and the sums of a scale's numbers scaled. Included
// inside each region, behind panel.inl, and followed by rounded_product_k.inl.
//
// A word of a vector keeps to numbers of one scale, so that eight, or four, vectors of bytes are
// multiplied before one is scaled: that is what makes the product cheap, for 16 rows nearly as for
// one. For that the words of several blocks are transposed, as they lie and before their numbers
// are taken out; activations are arranged likewise once a call. A format says
//
//     bytes     of a block
//     zero      the number that stands for 0: of q - zero the q are multiplied, and zero times the
//               sum of x taken off, as where the integer sum starts
//     has_min   whether there is an offset: its product with the sum of x is added
//
// A step is as many blocks as vectors hold. What is left of a row is copied into a step of zeros.

/// Numbers of a step of the formats with blocks of 32: a block in each lane.
inline constexpr index_t step_32 = 32 * lanes;
/// Bytes of it, arranged: eight vectors of numbers, then scales, then what `zero` or has_min wants.
inline constexpr index_t arranged_32 = 10 * lanes * 4;

inline Words load_ints(const std::byte* p) {
  Words w;
  __builtin_memcpy(&w, p, sizeof w);
  return w;
}

/// q of four bits in the lower halves of the bytes of v, and in the upper halves.
inline Words low_nibbles(Words v) { return v & 0x0F0F0F0F; }
inline Words high_nibbles(Words v) { return (v >> 4) & 0x0F0F0F0F; }

/// Blocks of 32 (see quant/): the numbers of `lanes` blocks, word j of each in q[j], and their
/// factors.
struct RoundedQ4_0 {
  static constexpr index_t bytes = 18;
  static constexpr int zero = 8;
  static constexpr bool has_min = false;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats&) {
    Words v[4];
    load_words(w + 2, bytes, v);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) q[j] = low_nibbles(v[j]), q[j + 4] = high_nibbles(v[j]);
    d = halves(gather_words<bytes>(w));
  }
};

struct RoundedQ4_1 {
  static constexpr index_t bytes = 20;
  static constexpr int zero = 0;
  static constexpr bool has_min = true;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats& m) {
    Words v[4];
    load_words(w + 4, bytes, v);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) q[j] = low_nibbles(v[j]), q[j + 4] = high_nibbles(v[j]);
    const Words head = gather_words<bytes>(w);
    d = halves(head), m = halves(head >> 16);
  }
};

struct RoundedQ5_0 {
  static constexpr index_t bytes = 22;
  static constexpr int zero = 16;
  static constexpr bool has_min = false;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats&) {
    Words v[4];
    load_words(w + 6, bytes, v);
    const Words high = gather_words<bytes>(w + 2);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      q[j] = low_nibbles(v[j]) | fifth_bits(high, j);
      q[j + 4] = high_nibbles(v[j]) | fifth_bits(high, j + 4);
    }
    d = halves(gather_words<bytes>(w));
  }
};

struct RoundedQ5_1 {
  static constexpr index_t bytes = 24;
  static constexpr int zero = 0;
  static constexpr bool has_min = true;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats& m) {
    Words v[4];
    load_words(w + 8, bytes, v);
    const Words high = gather_words<bytes>(w + 4), head = gather_words<bytes>(w);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      q[j] = low_nibbles(v[j]) | fifth_bits(high, j);
      q[j + 4] = high_nibbles(v[j]) | fifth_bits(high, j + 4);
    }
    d = halves(head), m = halves(head >> 16);
  }
};

struct RoundedQ8_0 {
  static constexpr index_t bytes = 34;
  static constexpr int zero = signed_zero;
  static constexpr bool has_min = false;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats&) {
    Words v[4];
#pragma GCC unroll 2
    for (int part = 0; part < 2; ++part) {
      load_words(w + 2 + 16 * part, bytes, v);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) q[4 * part + j] = prepare_signed(v[j]);
    }
    d = halves(gather_words<bytes>(w));
  }
};

/// Four products of bytes added to each word of `sum`.
template <class Format>
[[gnu::always_inline]] inline Words add_products(Words q, Words x, Words sum) {
  if constexpr (Format::bytes == RoundedQ8_0::bytes) return multiply_add_signed(q, x, sum);
  return multiply_add_bytes(q, x, sum);
}

/// What is left of a row, fewer bytes than a step has, with zeros behind it.
[[gnu::noinline]] inline const std::byte* copied_step(std::byte* step, index_t size,
                                                      const std::byte* w, index_t bytes) {
  __builtin_memcpy(step, w, static_cast<std::size_t>(bytes));
  __builtin_memset(step + bytes, 0, static_cast<std::size_t>(size - bytes));
  return step;
}

/// A step: the blocks at w with M rows of x.
template <class Format, int M>
[[gnu::always_inline]] inline void step_product(const std::byte* w, const std::byte* const (&x)[M],
                                                index_t at, Floats (&total)[M]) {
  Words q[8];
  Floats d = broadcast(0), min = d;
  Format::load(w, q, d, min);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    keep_order();
    const std::byte* in = x[m] + at;
    const std::byte* factors = in + 32 * lanes;
    Words sum = Format::zero == 0 ? q[0] - q[0] : load_ints(factors + 4 * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      sum = add_products<Format>(q[j], load_ints(in + 4 * lanes * j), sum);
    }
    total[m] = multiply_add(to_floats(sum), d * load(factors), total[m]);
    if (Format::has_min) total[m] = multiply_add(min, load(factors + 4 * lanes), total[m]);
  }
}

/// The product of a stored row with M rows.
template <class Format, int M>
inline void row_product(const std::byte* w, const std::byte* const (&x)[M], index_t n,
                        float (&sums)[M]) {
  constexpr index_t step = Format::bytes * lanes;
  std::byte rest[step];
  Floats total[M];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) total[m] = broadcast(0);
  for (index_t at = 0; n > 0; n -= step_32, at += arranged_32, w += step) {
    prefetch<step>(w);
    if (n < step_32) w = copied_step(rest, step, w, n / 32 * Format::bytes);
    step_product<Format, M>(w, x, at, total);
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) sums[m] = sum(total[m]);
}

/// Adds the products of a stored row with rows [t, t + count) of x, count <= M. A missing row is
/// the last once more.
template <auto product, int M>
inline void add_rows(const RoundedProduct& p, index_t o, index_t t, index_t count) {
  const std::byte* x[M];
  float sums[M];
  for (int m = 0; m < M; ++m) x[m] = p.x + (t + (m < count ? m : count - 1)) * p.x_bytes;
  product(p.w + o * p.row_bytes, x, p.n, sums);
  for (int m = 0; m < M && m < count; ++m) p.y[(t + m) * p.y_stride + o] += sums[m];
}

/// All of the product. Rows of x are taken 1, 4 or 8 at a time, more than there are rather than
/// taking the weights out twice; and each time with all outputs, so that the rows (24 kB of 8 with
/// 2048 columns) stay in first-level cache and the weights, read again, come from the second.
template <class Format, template <class, int> class Product>
inline void multiply_rounded(const RoundedProduct& p) {
  for (index_t t = 0; t < p.rows; t += rounded_rows) {
    const index_t count = p.rows - t < rounded_rows ? p.rows - t : rounded_rows;
    for (index_t o = 0; o < p.outputs; ++o) {
      if (rounded_rows == 1 || count == 1) {
        add_rows<Product<Format, 1>::row, 1>(p, o, t, count);
      } else if constexpr (rounded_rows == 4) {
        add_rows<Product<Format, 4>::row, 4>(p, o, t, count);
      } else if constexpr (rounded_rows == 8) {
        count <= 4 ? add_rows<Product<Format, 4>::row, 4>(p, o, t, count)
                   : add_rows<Product<Format, 8>::row, 8>(p, o, t, count);
      }
    }
  }
}

template <class Format, int M>
struct Product32 {
  static void row(const std::byte* w, const std::byte* const (&x)[M], index_t n, float (&sums)[M]) {
    row_product<Format, M>(w, x, n, sums);
  }
};

/// What is written beside the numbers of x: their sum, where a format has an offset to multiply by
/// it; else what the integer sum starts with.
struct BesideNumbers {
  int zero;
  bool has_min;

  void write(float d, std::int32_t sum, std::byte* to) const {
    const float x_sum = d * static_cast<float>(sum);
    const std::int32_t start = -zero * sum;
    has_min ? __builtin_memcpy(to, &x_sum, 4) : __builtin_memcpy(to, &start, 4);
  }
};

/// A row of x rounded, and arranged for formats with blocks of 32: a step of zeros behind the last
/// block where that is none.
[[gnu::noinline]] inline void arrange_by_32(const float* x, index_t n, BesideNumbers beside,
                                            std::byte* to) {
  std::int8_t q[step_32];
  float d[lanes];
  std::int32_t sums[lanes];
  for (index_t i = 0; i < n; i += step_32, to += arranged_32, x += step_32) {
    const index_t count = n - i < step_32 ? n - i : step_32;
    if (count < step_32) {
      __builtin_memset(q, 0, sizeof q);
      __builtin_memset(d, 0, sizeof d);
      __builtin_memset(sums, 0, sizeof sums);
    }
    round_activations(x, count, {q, d, sums});
    for (index_t lane = 0; lane < lanes; ++lane) {
      for (index_t j = 0; j < 8; ++j) {
        __builtin_memcpy(to + 4 * (j * lanes + lane), q + 32 * lane + 4 * j, 4);
      }
      std::byte* factor = to + 4 * (8 * lanes + lane);
      __builtin_memcpy(factor, &d[lane], 4);
      beside.write(d[lane], sums[lane], factor + 4 * lanes);
    }
  }
}

template <class Format>
inline void arrange_32(const float* x, index_t n, std::byte* to) {
  arrange_by_32(x, n, {Format::zero, Format::has_min}, to);
}

template <class Format>
inline constexpr Rounded rounded_32 = {arrange_32<Format>, multiply_rounded<Format, Product32>};
