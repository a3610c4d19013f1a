// The simd vocabulary in the baseline instruction set of the platform: vectors of four floats in
// the vector extension that g++ and clang share. Included by arch/scalar/kernels.hpp.

inline constexpr const char* set_name = "scalar";

using Floats [[gnu::vector_size(16)]] = float;
using Words [[gnu::vector_size(16)]] = std::int32_t;
inline constexpr index_t lanes = 4;
inline constexpr int gemm_rows = 6;  // by two vectors: 12 sums, 2 of weights, 1 of x, of 16

inline Floats broadcast(float x) { return Floats{x, x, x, x}; }

inline Floats load(const std::byte* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

/// The first n < lanes floats, and zeros.
inline Floats load_part(const void* p, index_t n) {
  float v[lanes] = {};
  __builtin_memcpy(v, p, static_cast<std::size_t>(n) * sizeof(float));
  return Floats{v[0], v[1], v[2], v[3]};
}

inline void store(float* p, Floats v) { __builtin_memcpy(p, &v, sizeof v); }

/// The first n < lanes floats.
inline void store_part(float* p, Floats v, index_t n) {
  __builtin_memcpy(p, &v, static_cast<std::size_t>(n) * sizeof(float));
}

/// a b + c; rounded twice here, once in the sets that have the instruction.
inline Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }

inline float sum(Floats v) { return (v[0] + v[2]) + (v[1] + v[3]); }

inline float load_half(const std::byte* p) {
  f16 h;
  __builtin_memcpy(&h, p, sizeof h);
  return to_float(h);
}

/// `lanes` stored numbers as floats.
inline Floats load_halves(const std::byte* p) {
  return Floats{load_half(p), load_half(p + 2), load_half(p + 4), load_half(p + 6)};
}

inline Floats load_bfloats(const std::byte* p) {
  std::uint16_t v[lanes];
  __builtin_memcpy(v, p, sizeof v);
  return Floats{to_float(bf16{v[0]}), to_float(bf16{v[1]}), to_float(bf16{v[2]}),
                to_float(bf16{v[3]})};
}

inline Floats load_int8s(const std::byte* p) {
  std::int8_t v[lanes];
  __builtin_memcpy(v, p, sizeof v);
  return Floats{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]),
                static_cast<float>(v[3])};
}

/// The lower, and the upper, four bits of `lanes` bytes.
inline Floats load_low_nibbles(const std::byte* p) {
  std::uint8_t v[lanes];
  __builtin_memcpy(v, p, sizeof v);
  return Floats{static_cast<float>(v[0] & 15), static_cast<float>(v[1] & 15),
                static_cast<float>(v[2] & 15), static_cast<float>(v[3] & 15)};
}
inline Floats load_high_nibbles(const std::byte* p) {
  std::uint8_t v[lanes];
  __builtin_memcpy(v, p, sizeof v);
  return Floats{static_cast<float>(v[0] >> 4), static_cast<float>(v[1] >> 4),
                static_cast<float>(v[2] >> 4), static_cast<float>(v[3] >> 4)};
}

/// Words j = 0 .. 3 of `lanes` rows: word j of row i, at p + i stride + 4 j, in lane i of words[j].
inline void load_words(const std::byte* p, index_t stride, Words (&words)[4]) {
  std::int32_t v[4][4];
  for (index_t i = 0; i < 4; ++i) __builtin_memcpy(v[i], p + i * stride, sizeof v[i]);
  for (index_t j = 0; j < 4; ++j) words[j] = Words{v[0][j], v[1][j], v[2][j], v[3][j]};
}

/// The half in the lower 16 bits of each word.
inline Floats halves(Words w) {
  const auto half = [&w](int i) {
    return to_float(f16{static_cast<std::uint16_t>(w[i] & 0xFFFF)});
  };
  return Floats{half(0), half(1), half(2), half(3)};
}

/// The greater of two, lane by lane; and the greatest lane.
inline Words greater_words(Words a, Words b) {
  const Words greater = a > b;
  return (a & greater) | (b & ~greater);
}
inline std::int32_t greatest(Words w) {
  std::int32_t most = w[0];
  for (int i = 1; i < lanes; ++i) most = w[i] > most ? w[i] : most;
  return most;
}

inline std::int32_t sum(Words w) { return (w[0] + w[2]) + (w[1] + w[3]); }

/// Floats as integers, to nearest, halves to even. (Not by adding 1.5 2^23: a compiler that fuses
/// that addition with a multiplication before it would round once where the rule rounds twice.)
inline Words to_nearest(Floats v) {
  return Words{static_cast<std::int32_t>(__builtin_lrintf(v[0])),
               static_cast<std::int32_t>(__builtin_lrintf(v[1])),
               static_cast<std::int32_t>(__builtin_lrintf(v[2])),
               static_cast<std::int32_t>(__builtin_lrintf(v[3]))};
}

/// Integers from -128 to 127 as bytes.
inline void store_int8s(std::int8_t* p, Words w) {
  const std::int8_t bytes[lanes] = {static_cast<std::int8_t>(w[0]), static_cast<std::int8_t>(w[1]),
                                    static_cast<std::int8_t>(w[2]), static_cast<std::int8_t>(w[3])};
  __builtin_memcpy(p, bytes, sizeof bytes);
}

/// Lane by lane the larger, and the smaller, one; b where either is a NaN.
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }

inline float largest(Floats v) {
  const float low = v[0] > v[1] ? v[0] : v[1], high = v[2] > v[3] ? v[2] : v[3];
  return low > high ? low : high;
}

/// p 2^n for p from 1/2 to 2 and whole n from -152 to 152, in two factors, as 2^n alone need not be
/// a normal float. A NaN in p stays one.
inline Floats times_power_of_two(Floats p, Floats n) {
  const Words whole = __builtin_convertvector(n, Words), half = whole >> 1;
  const Words first = (half + 127) << 23, second = (whole - half + 127) << 23;
  return p * reinterpret_cast<Floats>(first) * reinterpret_cast<Floats>(second);
}

/// The same for n <= 0; 0 below 2^-125.
inline Floats times_small_power_of_two(Floats p, Floats n) {
  const Words powers = (__builtin_convertvector(n, Words) + 127) << 23;
  return n < -125.0f ? Floats{} : p * reinterpret_cast<Floats>(powers);
}

/// Half as many doubles, in pairs for a vector of floats.
using Doubles [[gnu::vector_size(16)]] = double;
using Longs [[gnu::vector_size(16)]] = std::int64_t;

inline Doubles broadcast_double(double x) { return Doubles{x, x}; }

/// The two halves of a vector of floats; and back, rounded.
inline Doubles low_doubles(Floats v) {
  return Doubles{static_cast<double>(v[0]), static_cast<double>(v[1])};
}
inline Doubles high_doubles(Floats v) {
  return Doubles{static_cast<double>(v[2]), static_cast<double>(v[3])};
}
inline Floats to_floats(Doubles low, Doubles high) {
  return Floats{static_cast<float>(low[0]), static_cast<float>(low[1]), static_cast<float>(high[0]),
                static_cast<float>(high[1])};
}

inline Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }

inline double sum(Doubles v) { return v[0] + v[1]; }

/// Lanes 2i and 2i + 1 exchanged.
inline Floats swap_pairs(Floats v) { return Floats{v[1], v[0], v[3], v[2]}; }

/// a[0] b[0] a[1] b[1] and so on: two vectors.
inline void store_interleaved(float* p, Floats a, Floats b) {
  store(p, Floats{a[0], b[0], a[1], b[1]});
  store(p + lanes, Floats{a[2], b[2], a[3], b[3]});
}

/// Rows of x that a product in floats takes at a time.
inline constexpr int dot_rows = 2;

/// Outputs that a product of rounded activations takes at a time.
inline constexpr int rounded_outputs = 1;

/// A word from each of `lanes` blocks, stride bytes apart.
inline Words load_word(const std::byte* p, index_t stride) {
  std::int32_t v[4];
  for (index_t i = 0; i < 4; ++i) __builtin_memcpy(v + i, p + i * stride, 4);
  return Words{v[0], v[1], v[2], v[3]};
}

using Shorts [[gnu::vector_size(16)]] = std::int16_t;

/// 16 in byte i of each word whose bit 4 j + i is set.
inline Words fifth_bits(Words w, int j) {
  const Words four = (w >> (4 * j)) & 15;
  return (four << 4 & 0x10) | (four << 11 & 0x1000) | (four << 18 & 0x100000) |
         (four << 25 & 0x10000000);
}

/// Word j of four blocks in words[j]: of 16 bytes; of their unit-th part of 32, over again; and
/// what other sets repeat.
inline void load_pieces(const std::byte* p, index_t stride, Words (&words)[4]) {
  load_words(p, stride, words);
}
template <int unit>
inline void load_pieces_of_32(const std::byte* p, index_t stride, Words (&words)[4]) {
  load_words(p + 16 * (unit % 2), stride, words);
}
inline void load_repeated(const std::byte* p, index_t stride, Words (&words)[4]) {
  load_words(p, stride, words);
}

/// To each word of c the sum of the products of its four bytes of a, and of b, both signed, b above
/// -128: the sum of two products fits 16 bits.
inline Words multiply_add_bytes(Words a, Words b, Words c) {
  const Shorts s = reinterpret_cast<Shorts>(a), t = reinterpret_cast<Shorts>(b);
  const Words pairs =
      reinterpret_cast<Words>(((s << 8) >> 8) * ((t << 8) >> 8) + (s >> 8) * (t >> 8));
  return c + ((pairs << 16) >> 16) + (pairs >> 16);
}

/// For a vector that has several products, where a compiler would load it for each.
inline void keep_loaded(Words&) {}

/// The zero of signed bytes when they are multiplied, and their largest number for
/// multiply_add_vectors.
inline constexpr int signed_zero = 0, signed_bytes = 128;
inline Words prepare_signed(Words w) { return w; }
