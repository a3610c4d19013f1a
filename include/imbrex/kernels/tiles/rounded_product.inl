// Products of stored rows with activations rounded to int8 (reference/round_activations.hpp):
// integers are multiplied, four bytes to a word, and the sums of a scale's numbers scaled. Included
// inside each region, behind panel.inl, and followed by rounded_product_k.inl.
//
// A word of a vector keeps to numbers of one scale, so that eight, or four, vectors of bytes are
// multiplied before one is scaled: that is what makes the product cheap. For that the words of
// several blocks are transposed, as they lie and before their numbers are taken out; activations
// are arranged likewise once a call. A format says
//
//     bytes     of a block
//     most      the largest number, or signed_bytes
//     zero      the number that stands for 0: of q - zero the q are multiplied, and zero times the
//               sum of x taken off, as where the integer sum starts
//     has_min   whether there is an offset: its product with the sum of x is added
//
// A step is as many blocks as vectors hold. What is left of a row is copied into a step of zeros.

/// Numbers of a step of the formats with blocks of 32: a block in each lane.
inline constexpr index_t step_32 = 32 * lanes;

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
  static constexpr int most = 15, zero = 8;
  static constexpr bool has_min = false;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats&) {
    Words v[4];
    load_words(w + 2, bytes, v);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) q[j] = low_nibbles(v[j]), q[j + 4] = high_nibbles(v[j]);
    d = halves(load_word(w, bytes));
  }
};

struct RoundedQ4_1 {
  static constexpr index_t bytes = 20;
  static constexpr int most = 15, zero = 0;
  static constexpr bool has_min = true;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats& m) {
    Words v[4];
    load_words(w + 4, bytes, v);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) q[j] = low_nibbles(v[j]), q[j + 4] = high_nibbles(v[j]);
    const Words head = load_word(w, bytes);
    d = halves(head), m = halves(head >> 16);
  }
};

struct RoundedQ5_0 {
  static constexpr index_t bytes = 22;
  static constexpr int most = 31, zero = 16;
  static constexpr bool has_min = false;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats&) {
    Words v[4];
    load_words(w + 6, bytes, v);
    const Words high = load_word(w + 2, bytes);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      q[j] = low_nibbles(v[j]) | fifth_bits(high, j);
      q[j + 4] = high_nibbles(v[j]) | fifth_bits(high, j + 4);
    }
    d = halves(load_word(w, bytes));
  }
};

struct RoundedQ5_1 {
  static constexpr index_t bytes = 24;
  static constexpr int most = 31, zero = 0;
  static constexpr bool has_min = true;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats& m) {
    Words v[4];
    load_words(w + 8, bytes, v);
    const Words high = load_word(w + 4, bytes), head = load_word(w, bytes);
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
  static constexpr int most = signed_bytes, zero = signed_zero;
  static constexpr bool has_min = false;

  [[gnu::always_inline]] static void load(const std::byte* w, Words (&q)[8], Floats& d, Floats&) {
    Words v[4];
#pragma GCC unroll 2
    for (int part = 0; part < 2; ++part) {
      load_words(w + 2 + 16 * part, bytes, v);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) q[4 * part + j] = prepare_signed(v[j]);
    }
    d = halves(load_word(w, bytes));
  }
};

/// What is left of a row, fewer bytes than a step has, with zeros behind it.
[[gnu::noinline]] inline const std::byte* copied_step(std::byte* step, index_t size,
                                                      const std::byte* w, index_t bytes) {
  __builtin_memcpy(step, w, static_cast<std::size_t>(bytes));
  __builtin_memset(step + bytes, 0, static_cast<std::size_t>(size - bytes));
  return step;
}

/// A step of a format with blocks of 32: all of it has one part, of eight vectors.
template <class Format>
struct Step32 {
  static constexpr index_t numbers = step_32, bytes = lanes * Format::bytes, block = 32;
  static constexpr int parts = 1, vectors = 8;
  static constexpr int most = Format::most, zero = Format::zero;
  static constexpr bool has_min = Format::has_min;

  const std::byte* w;

  [[gnu::always_inline]] void start(const std::byte* blocks) { w = blocks; }

  template <int>
  [[gnu::always_inline]] void part(Words (&q)[8], Floats& scale, Floats& min) {
    Format::load(w, q, scale, min);
  }
};

/// Bytes of n stored numbers, whole blocks.
template <class Step>
constexpr index_t stored_bytes(index_t n) {
  return n / Step::block * (Step::bytes * Step::block / Step::numbers);
}

/// Bytes of x for a part of a step: vectors of numbers, then scales, then what `zero` or has_min
/// wants.
constexpr index_t arranged_part(int vectors) { return 4 * lanes * (vectors + 2); }

/// The same for all parts. A step has those of all rows, one behind the other, so that what is used
/// together lies together.
template <class Step>
inline constexpr index_t arranged_step = Step::parts * arranged_part(Step::vectors);

/// Totals of N outputs with several rows of x, a vector for each output and row. They are in
/// memory, as registers are full of weights: so any number of rows shares what was taken out of
/// these.
template <int N>
struct TotalsInMemory {
  float* start;
  index_t rows;

  /// add(m, totals of row m), for each row.
  template <class Add>
  [[gnu::always_inline]] void each_row(const Add& add) {
    for (index_t m = 0; m < rows; ++m) {
      Floats totals[N];
#pragma GCC unroll 2
      for (int i = 0; i < N; ++i) totals[i] = load(start + (i * rows + m) * lanes);
      add(m, totals);
#pragma GCC unroll 2
      for (int i = 0; i < N; ++i) store(start + (i * rows + m) * lanes, totals[i]);
    }
  }
};

/// Those of one row of x stay in registers: each part's sums would wait for the store of the part
/// before.
template <int N>
struct TotalsOfOneRow {
  Floats totals[N];

  template <class Add>
  [[gnu::always_inline]] void each_row(const Add& add) {
    add(0, totals);
  }
};

/// The stored rows of the outputs that come next, called for in the order in which they lie while
/// others are multiplied: into second-level cache, as they are more than the first has room for.
/// Addresses are integers: behind the last row they are those of nothing.
class NextOutputs {
 public:
  /// Of the product `p`, from output o on.
  template <class Step>
  static NextOutputs of(const RoundedProduct& p, index_t o) {
    return {reinterpret_cast<std::uintptr_t>(p.w) + static_cast<std::uintptr_t>(o * p.row_bytes),
            stored_bytes<Step>(p.n), p.row_bytes};
  }

  /// The lines of `Bytes`, dealt to as many parts, the last of which goes on to what is behind.
  template <index_t Bytes, int part, int parts>
  [[gnu::always_inline]] void call() {
    constexpr index_t first = ceil_div(part * Bytes / parts, 64) * 64;
#pragma GCC unroll 16
    for (index_t i = first; i < (part + 1) * Bytes / parts; i += 64) {
      __builtin_prefetch(reinterpret_cast<const void*>(at_ + static_cast<std::uintptr_t>(i)), 0, 2);
    }
    if constexpr (part + 1 < parts) return;
    at_ += std::uintptr_t{Bytes}, left_ -= Bytes;
    if (left_ <= 0) at_ += gap_, left_ += row_;
  }

 private:
  NextOutputs(std::uintptr_t start, index_t row, index_t row_bytes)
      : at_(start), row_(row), left_(row), gap_(static_cast<std::uintptr_t>(row_bytes - row)) {}

  std::uintptr_t at_;
  index_t row_, left_;
  std::uintptr_t gap_;
};

/// Parts a and up of a step, of N outputs that share x with all of its rows: added to their totals.
template <class Step, int a, int N, class Totals>
[[gnu::always_inline]] inline void part_products(Step (&w)[N], const std::byte* x, Totals& totals,
                                                 NextOutputs& next) {
  next.call<N * Step::bytes, a, Step::parts>();
  Words q[N][Step::vectors];
  Floats scale[N], min[N];
#pragma GCC unroll 2
  for (int i = 0; i < N; ++i) {
    min[i] = broadcast(0);
    w[i].template part<a>(q[i], scale[i], min[i]);
  }
  totals.each_row([&](index_t m, Floats(&t)[N]) __attribute__((always_inline)) {
    const std::byte* in = x + m * arranged_step<Step>;
    const std::byte* factors = in + 4 * lanes * Step::vectors;
    Words sum[N];
#pragma GCC unroll 2
    for (int i = 0; i < N; ++i) {
      sum[i] = Step::zero == 0 ? q[0][0] - q[0][0] : load_ints(factors + 4 * lanes);
    }
    multiply_add_vectors<Step::most>(q, in, sum);
#pragma GCC unroll 2
    for (int i = 0; i < N; ++i) {
      t[i] = multiply_add(to_floats(sum[i]), scale[i] * load(factors), t[i]);
      if (Step::has_min) t[i] = multiply_add(min[i], load(factors + 4 * lanes), t[i]);
    }
  });
  if constexpr (a + 1 < Step::parts) {
    part_products<Step, a + 1>(w, x + arranged_part(Step::vectors), totals, next);
  }
}

/// The step at w of N outputs, row_bytes apart, of which `left` numbers are left: added to their
/// totals.
template <class Step, int N, class Totals>
[[gnu::always_inline]] inline void step_products(const std::byte* w, index_t row_bytes,
                                                 const std::byte* x, index_t left, Totals& totals,
                                                 NextOutputs& next) {
  std::byte rest[N][Step::bytes];
  Step steps[N];
#pragma GCC unroll 2
  for (int i = 0; i < N; ++i, w += row_bytes) {
    const bool whole = left >= Step::numbers;
    steps[i].start(whole ? w : copied_step(rest[i], Step::bytes, w, stored_bytes<Step>(left)));
  }
  part_products<Step, 0>(steps, x, totals, next);
}

/// How far ahead of the outputs of one row of x memory is asked for: some 330 ns at 25 GB/s.
inline constexpr index_t rounded_ahead = 8192;

/// Adds the products of N outputs from o on with the only row of x.
template <class Step, int N>
inline void products_of_one_row(const RoundedProduct& p, index_t o) {
  TotalsOfOneRow<N> row;
#pragma GCC unroll 2
  for (int i = 0; i < N; ++i) row.totals[i] = broadcast(0);
  const std::byte *w = p.w + o * p.row_bytes, *x = p.x;
  const index_t ahead = ceil_div(rounded_ahead, stored_bytes<Step>(p.n));
  NextOutputs next = NextOutputs::of<Step>(p, o + greater(ahead, N));
  for (index_t n = p.n; n > 0; n -= Step::numbers, w += Step::bytes, x += arranged_step<Step>) {
    step_products<Step, N>(w, p.row_bytes, x, n, row, next);
  }
#pragma GCC unroll 2
  for (int i = 0; i < N; ++i) p.y[o + i] += sum(row.totals[i]);
}

/// Adds the products of `count` outputs from o on, at most rounded_group, with all rows of x. They
/// take turns at each step, so that x of the step, 10 kB of 16 rows (by 512 columns), stays in
/// first-level cache, beside 8 kB of totals.
template <class Step>
inline void group_products(const RoundedProduct& p, index_t o, index_t count) {
  alignas(64) float totals[rounded_group * rounded_most_rows * lanes];
  const index_t size = p.rows * lanes;
  for (index_t i = 0; i < count * size; i += lanes) store(totals + i, broadcast(0));
  const std::byte *w = p.w + o * p.row_bytes, *x = p.x;
  NextOutputs next = NextOutputs::of<Step>(p, o + count);
  for (index_t n = p.n; n > 0; n -= Step::numbers, w += Step::bytes) {
    index_t i = 0;
    for (; i + rounded_outputs <= count; i += rounded_outputs) {
      TotalsInMemory<rounded_outputs> rows{totals + i * size, p.rows};
      step_products<Step, rounded_outputs>(w + i * p.row_bytes, p.row_bytes, x, n, rows, next);
    }
    if constexpr (rounded_outputs > 1) {
      for (; i < count; ++i) {
        TotalsInMemory<1> rows{totals + i * size, p.rows};
        step_products<Step, 1>(w + i * p.row_bytes, p.row_bytes, x, n, rows, next);
      }
    }
    x += p.rows * arranged_step<Step>;
  }
  for (index_t i = 0; i < count; ++i) {
    for (index_t m = 0; m < p.rows; ++m) {
      p.y[m * p.y_stride + o + i] += sum(load(totals + i * size + m * lanes));
    }
  }
}

/// All of the product with the only row of x.
template <class Step>
inline void multiply_one_row(const RoundedProduct& p) {
  index_t o = 0;
  for (; o + rounded_outputs <= p.outputs; o += rounded_outputs) {
    products_of_one_row<Step, rounded_outputs>(p, o);
  }
  if constexpr (rounded_outputs > 1) {
    for (; o < p.outputs; ++o) products_of_one_row<Step, 1>(p, o);
  }
}

/// All of the product.
template <class Step>
inline void multiply_rounded(const RoundedProduct& p) {
  if (p.rows == 1) return multiply_one_row<Step>(p);
  for (index_t o = 0; o < p.outputs; o += rounded_group) {
    const index_t left = p.outputs - o;
    group_products<Step>(p, o, left < rounded_group ? left : rounded_group);
  }
}

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

/// Where a row's steps are arranged.
struct ArrangedRow {
  std::byte* start;
  index_t step_bytes;  ///< from step to step
};

/// A row of x rounded, and arranged for formats with blocks of 32: a step of zeros behind the last
/// block where that is none.
[[gnu::noinline]] inline void arrange_by_32(const float* x, index_t n, BesideNumbers beside,
                                            ArrangedRow row) {
  std::int8_t q[step_32];
  float d[lanes];
  std::int32_t sums[lanes];
  std::byte* to = row.start;
  for (index_t i = 0; i < n; i += step_32, to += row.step_bytes, x += step_32) {
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
inline void arrange_32(const Arranged& a) {
  constexpr index_t bytes = arranged_step<Step32<Format>>;
  for (index_t m = 0; m < a.rows; ++m) {
    arrange_by_32(a.x + m * a.x_stride, a.n, {Format::zero, Format::has_min},
                  {a.to + m * bytes, a.rows * bytes});
  }
}

template <class Format>
inline constexpr Rounded rounded_32 = {arrange_32<Format>, multiply_rounded<Step32<Format>>};
