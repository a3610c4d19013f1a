// The same for the formats with blocks of 256 numbers. Included behind rounded_product.inl.
//
// A step is four blocks. A vector has `pieces` parts of 16 bytes, and in each part a word of every
// block: lane 4 l + s belongs to block s. Four such vectors have all of 16 bytes of l. They are a
// run of 16 numbers, or several that share the bytes: so the numbers of a run, which have one
// scale, are in one lane of four vectors. A format has 16 / pieces parts, each with `pieces` runs:
// run(a, l) is that of part a and piece l.

inline constexpr index_t pieces = lanes / 4, parts = 16 / pieces;

/// A constant for each part and lane.
struct LaneConstants {
  std::int32_t at[parts][lanes];

  constexpr bool all_lanes_alike(int a) const {
    for (index_t lane = 1; lane < lanes; ++lane) {
      if (at[a][lane] != at[a][0]) return false;
    }
    return true;
  }
};

/// That of part a: a number where all lanes have the same, so that a shift by it is simple.
template <const LaneConstants& constants, int a>
[[gnu::always_inline]] inline auto lane_constant() {
  if constexpr (constants.all_lanes_alike(a)) {
    return constants.at[a][0];
  } else {
    Words w;
    __builtin_memcpy(&w, constants.at[a], sizeof w);
    return w;
  }
}

/// The bits `mask` of each word, from as many places further up in the same byte as `turns` has for
/// part a (further down, where that is less than 0).
template <const LaneConstants& turns, int a>
[[gnu::always_inline]] inline Words moved_bits(Words w, std::int32_t mask) {
  const auto by = lane_constant<turns, a>();
  if constexpr (!turns.all_lanes_alike(a)) {
    return rotate_right(w, by) & mask;
  } else if constexpr (turns.at[a][0] < 0) {
    return (w << -by) & mask;
  } else {
    return (w >> by) & mask;
  }
}

template <std::int32_t (*value)(index_t a, index_t l)>
constexpr LaneConstants lane_constants() {
  LaneConstants constants{};
  for (index_t a = 0; a < parts; ++a) {
    for (index_t lane = 0; lane < lanes; ++lane) constants.at[a][lane] = value(a, lane / 4);
  }
  return constants;
}

/// The eight pairs of six bits of Q4_K and Q5_K (quant/scales_k.hpp), a byte each, from the words
/// of their twelve bytes: scales of groups 0 to 3 and 4 to 7, then likewise offsets. A word, or a
/// vector of words.
template <class Word>
[[gnu::always_inline]] inline void six_bit_factors(Word a, Word b, Word c, Word (&factors)[4]) {
  factors[0] = a & 0x3F3F3F3F;
  factors[1] = (c & 0x0F0F0F0F) | ((a >> 2) & 0x30303030);
  factors[2] = b & 0x3F3F3F3F;
  factors[3] = ((c >> 4) & 0x0F0F0F0F) | ((b >> 2) & 0x30303030);
}

/// The 16 scales of Q3_K (quant/q3_k.hpp), 32 too large, a byte each, from the words of their
/// twelve bytes: the lower four bits are in the halves of a and b, the upper two in c.
template <class Word>
[[gnu::always_inline]] inline void six_bit_scales(Word a, Word b, Word c, Word (&scales)[4]) {
  scales[0] = (a & 0x0F0F0F0F) | ((c << 4) & 0x30303030);
  scales[1] = (b & 0x0F0F0F0F) | ((c << 2) & 0x30303030);
  scales[2] = ((a >> 4) & 0x0F0F0F0F) | (c & 0x30303030);
  scales[3] = ((b >> 4) & 0x0F0F0F0F) | ((c >> 2) & 0x30303030);
}

/// What Q4_K and Q5_K have alike: 128 bytes of two groups of 32 each, and their factors.
struct FactorsK {
  static constexpr index_t run(index_t a, index_t l) {
    const index_t piece = a / 2 * pieces + l;
    return 4 * (piece / 2) + 2 * (a % 2) + piece % 2;
  }
  static constexpr std::int32_t shift(index_t a, index_t l) {
    return static_cast<std::int32_t>(8 * (run(a, l) / 2 % 4));
  }
  static constexpr int zero = 0;
  static constexpr bool has_min = true;

  Words factor_bytes[4];
  Floats d, dmin;

  [[gnu::always_inline]] void load_factors(const std::byte* block, index_t stride) {
    Words head[4];
    load_repeated(block, stride, head);
    d = halves(head[0]), dmin = broadcast(0) - halves(head[0] >> 16);
    six_bit_factors(head[1], head[2], head[3], factor_bytes);
  }

  template <int a>
  [[gnu::always_inline]] void factors(Floats& scale, Floats& min) const;
};

inline constexpr LaneConstants shifts_k = lane_constants<FactorsK::shift>();

template <int a>
[[gnu::always_inline]] inline void FactorsK::factors(Floats& scale, Floats& min) const {
  constexpr int word = static_cast<int>(run(a, 0) / 8);
  const auto shift = lane_constant<shifts_k, a>();
  scale = d * to_floats((factor_bytes[word] >> shift) & 0xFF);
  min = dmin * to_floats((factor_bytes[2 + word] >> shift) & 0xFF);
}

struct RoundedQ4_K : FactorsK {
  static constexpr index_t bytes = 144;
  static constexpr int most = 15;

  const std::byte* numbers;
  Words v[4];

  [[gnu::always_inline]] void start(const std::byte* block) {
    load_factors(block, bytes);
    numbers = block + 16;
  }

  template <int a>
  [[gnu::always_inline]] void part(Words (&q)[4], Floats& scale, Floats& min) {
    if constexpr (a % 2 == 0) load_pieces(numbers + a / 2 * 4 * lanes, bytes, v);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) q[k] = a % 2 == 0 ? low_nibbles(v[k]) : high_nibbles(v[k]);
    factors<a>(scale, min);
  }
};

/// The fifth bit of part a is bit 2 (piece / 2) + a % 2 of a byte; as bit 4 it is wanted.
constexpr std::int32_t fifth_turn(index_t a, index_t l) {
  const index_t piece = a / 2 * pieces + l;
  return static_cast<std::int32_t>(2 * (piece / 2) + a % 2 - 4);
}
inline constexpr LaneConstants fifth_turns = lane_constants<fifth_turn>();

struct RoundedQ5_K : FactorsK {
  static constexpr index_t bytes = 176;
  static constexpr int most = 31;

  const std::byte* block;
  Words v[4], high[4];

  [[gnu::always_inline]] void start(const std::byte* w) {
    load_factors(w, bytes);
    block = w;
  }

  template <int a>
  [[gnu::always_inline]] void part(Words (&q)[4], Floats& scale, Floats& min) {
    if constexpr (a % 2 == 0) {
      load_pieces(block + 48 + a / 2 * 4 * lanes, bytes, v);
      if constexpr (a == 0 || pieces == 1) load_pieces_of_32<a / 2>(block + 16, bytes, high);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      q[k] = (a % 2 == 0 ? low_nibbles(v[k]) : high_nibbles(v[k])) |
             moved_bits<fifth_turns, a>(high[k], 0x10101010);
    }
    factors<a>(scale, min);
  }
};

/// Q6_K: part a has pieces of the lower halves (a even) or the upper ones of 64 bytes for a half of
/// the block: 16 numbers each.
constexpr index_t run_q6_k(index_t a, index_t l) {
  const index_t piece = a / 2 * pieces + l;
  return 8 * (piece / 4) + 4 * (a % 2) + piece % 4;
}
/// The byte of the scale moves to the top of its word; bits 2 j and 2 j + 1, j = piece / 2 + 2 for
/// the upper halves, move to bits 4 and 5.
constexpr std::int32_t shift_q6_k(index_t a, index_t l) {
  return static_cast<std::int32_t>(24 - 8 * (run_q6_k(a, l) % 4));
}
constexpr std::int32_t turn_q6_k(index_t a, index_t l) {
  const index_t piece = (a / 2 * pieces + l) % 4;
  return static_cast<std::int32_t>(2 * (piece / 2) + 4 * (a % 2) - 4);
}
inline constexpr LaneConstants shifts_q6_k = lane_constants<shift_q6_k>(),
                               turns_q6_k = lane_constants<turn_q6_k>();

struct RoundedQ6_K {
  static constexpr index_t bytes = 210;
  static constexpr int most = 63, zero = 32;
  static constexpr bool has_min = false;
  static constexpr index_t run(index_t a, index_t l) { return run_q6_k(a, l); }

  const std::byte* block;
  Words scales[4], v[4], high[4];
  Floats d;

  [[gnu::always_inline]] void start(const std::byte* w) {
    block = w;
    Words tail[4];
    load_repeated(block + 192, bytes, scales);
    load_repeated(block + 194, bytes, tail);  // to the last byte of the block
    d = halves(tail[3] >> 16);
  }

  template <int a>
  [[gnu::always_inline]] void part(Words (&q)[4], Floats& scale, Floats&) {
    constexpr int unit = a / 2;  // vectors of 16 pieces bytes of lower bits
    if constexpr (a % 2 == 0) {
      load_pieces(block + unit * 4 * lanes, bytes, v);
      // Two vectors of lower bits have upper ones in the same 32 bytes.
      if constexpr (a % 4 == 0 || pieces != 2)
        load_pieces_of_32<unit>(block + 128 + 32 * (unit * pieces / 4), bytes, high);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      q[k] = (a % 2 == 0 ? low_nibbles(v[k]) : high_nibbles(v[k])) |
             moved_bits<turns_q6_k, a>(high[k], 0x30303030);
    }
    constexpr int word = static_cast<int>(run(a, 0) / 4);
    scale = d * to_floats((scales[word] << lane_constant<shifts_q6_k, a>()) >> 24);
  }
};

/// Q2_K and Q3_K: part a has bits 2 j and 2 j + 1, j = a % 4, of pieces of 64 bytes.
constexpr index_t run_of_bits(index_t a, index_t l) {
  const index_t piece = a / 4 * pieces + l;
  return 8 * (piece / 2) + 2 * (a % 4) + piece % 2;
}
constexpr std::int32_t scale_shift(index_t a, index_t l) {
  return static_cast<std::int32_t>(8 * (run_of_bits(a, l) % 4));
}
/// All ones where the run is in the second half of the block.
constexpr std::int32_t second_half(index_t a, index_t l) { return run_of_bits(a, l) < 8 ? 0 : -1; }
/// Bit j + 4 (second half) of a byte moves to bit 2.
constexpr std::int32_t third_turn(index_t a, index_t l) {
  return static_cast<std::int32_t>(a % 4 + 4 * (run_of_bits(a, l) / 8) - 2);
}
inline constexpr LaneConstants scale_shifts = lane_constants<scale_shift>(),
                               second_halves = lane_constants<second_half>(),
                               third_turns = lane_constants<third_turn>();

/// The byte of words[0 .. 3] that belongs to each run of part a.
template <int a>
[[gnu::always_inline]] inline Words run_byte(const Words (&words)[4]) {
  constexpr int word = a % 4 / 2;
  const auto upper = lane_constant<second_halves, a>();
  return (((words[word] & ~upper) | (words[word + 2] & upper)) >>
          lane_constant<scale_shifts, a>()) &
         0xFF;
}

struct RoundedQ2_K {
  static constexpr index_t bytes = 84;
  static constexpr int most = 3, zero = 0;
  static constexpr bool has_min = true;
  static constexpr index_t run(index_t a, index_t l) { return run_of_bits(a, l); }

  const std::byte* block;
  Words scales[4], mins[4], v[4];
  Floats d, dmin;

  [[gnu::always_inline]] void start(const std::byte* w) {
    block = w;
    Words tail[4];
    load_repeated(block, bytes, scales);
    load_repeated(block + 68, bytes, tail);  // to the last byte of the block
    d = halves(tail[3]), dmin = broadcast(0) - halves(tail[3] >> 16);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      mins[i] = high_nibbles(scales[i]), scales[i] = low_nibbles(scales[i]);
    }
  }

  template <int a>
  [[gnu::always_inline]] void part(Words (&q)[4], Floats& scale, Floats& min) {
    if constexpr (a % 4 == 0) load_pieces(block + 16 + a / 4 * 4 * lanes, bytes, v);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) q[k] = (v[k] >> (2 * (a % 4))) & 0x03030303;
    scale = d * to_floats(run_byte<a>(scales));
    min = dmin * to_floats(run_byte<a>(mins));
  }
};

struct RoundedQ3_K {
  static constexpr index_t bytes = 110;
  static constexpr int most = 7, zero = 4;
  static constexpr bool has_min = false;
  static constexpr index_t run(index_t a, index_t l) { return run_of_bits(a, l); }

  const std::byte* block;
  Words scales[4], v[4], high[4];
  Floats d;

  [[gnu::always_inline]] void start(const std::byte* w) {
    block = w;
    Words head[4], tail[4];
    load_repeated(block + 92, bytes, head);
    load_repeated(block + 94, bytes, tail);  // to the last byte of the block
    d = halves(tail[3] >> 16);
    six_bit_scales(head[1], head[2], head[3], scales);
  }

  template <int a>
  [[gnu::always_inline]] void part(Words (&q)[4], Floats& scale, Floats&) {
    constexpr int unit = a / 4;
    if constexpr (a % 4 == 0) {
      load_pieces(block + 32 + unit * 4 * lanes, bytes, v);
      if constexpr (a == 0 || pieces == 1) load_pieces_of_32<unit>(block, bytes, high);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      q[k] =
          ((v[k] >> (2 * (a % 4))) & 0x03030303) | moved_bits<third_turns, a>(high[k], 0x04040404);
    }
    scale = d * to_floats(run_byte<a>(scales) - 32);
  }
};

/// A step of a format with blocks of 256.
template <class Format>
struct StepK : Format {
  static constexpr index_t numbers = 1024, bytes = 4 * Format::bytes, block = 256;
  static constexpr int parts = 16 / pieces, vectors = 4;
};

/// A row of x rounded, and arranged for formats with blocks of 256 that have these runs.
[[gnu::noinline]] inline void arrange_runs(const float* x, index_t n, const LaneConstants& runs,
                                           BesideNumbers beside, ArrangedRow row) {
  std::int8_t q[1024];
  float d[32];
  std::int32_t sums[32];
  std::byte* to = row.start;
  for (index_t i = 0; i < n; i += 1024, to += row.step_bytes, x += 1024) {
    const index_t count = n - i < 1024 ? n - i : 1024;
    if (count < 1024) {
      __builtin_memset(q, 0, sizeof q);
      __builtin_memset(d, 0, sizeof d);
    }
    round_activations(x, count, {q, d, sums});
    for (index_t a = 0; a < parts; ++a) {
      for (index_t lane = 0; lane < lanes; ++lane) {
        const index_t run = 16 * (lane % 4) + runs.at[a][lane];
        std::byte* word = to + a * arranged_part(4) + 4 * lane;
        std::int32_t run_sum = 0;
        for (index_t k = 0; k < 16; ++k) run_sum += q[16 * run + k];
        for (index_t k = 0; k < 4; ++k) {
          __builtin_memcpy(word + 4 * lanes * k, q + 16 * run + 4 * k, 4);
        }
        __builtin_memcpy(word + 16 * lanes, &d[run / 2], 4);
        beside.write(d[run / 2], run_sum, word + 20 * lanes);
      }
    }
  }
}

template <class Format>
constexpr std::int32_t run_number(index_t a, index_t l) {
  return static_cast<std::int32_t>(Format::run(a, l));
}
template <class Format>
inline constexpr LaneConstants runs_of = lane_constants<run_number<Format>>();

template <class Format>
inline void arrange_k(const Arranged& a) {
  constexpr index_t bytes = arranged_step<StepK<Format>>;
  for (index_t m = 0; m < a.rows; ++m) {
    arrange_runs(a.x + m * a.x_stride, a.n, runs_of<Format>, {Format::zero, Format::has_min},
                 {a.to + m * bytes, a.rows * bytes});
  }
}

template <class Format>
inline constexpr Rounded rounded_k = {arrange_k<Format>, multiply_rounded<StepK<Format>>};

/// By Dtype.
inline constexpr RoundedKernels rounded_kernels = {{{},
                                                    {},
                                                    {},
                                                    rounded_32<RoundedQ4_0>,
                                                    rounded_32<RoundedQ4_1>,
                                                    rounded_32<RoundedQ5_0>,
                                                    rounded_32<RoundedQ5_1>,
                                                    rounded_32<RoundedQ8_0>,
                                                    rounded_k<RoundedQ2_K>,
                                                    rounded_k<RoundedQ3_K>,
                                                    rounded_k<RoundedQ4_K>,
                                                    rounded_k<RoundedQ5_K>,
                                                    rounded_k<RoundedQ6_K>}};
