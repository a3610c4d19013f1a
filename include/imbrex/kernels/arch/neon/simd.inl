// The simd vocabulary in AdvSIMD, as every 64-bit ARM processor has it (ARMv8.0). Included by
// arch/neon/kernels.hpp.

inline constexpr const char* set_name = "neon";

using Floats [[gnu::vector_size(16)]] = float;
using Words [[gnu::vector_size(16)]] = std::int32_t;
inline constexpr index_t lanes = 4;

/// By two vectors: 20 sums, 2 of weights, of 32; the others are for the numbers of x, which here
/// are loaded before they are multiplied with, some of them early. A step of k has 12 loads for 20
/// multiply-adds: no more than units do meanwhile, be it two of each a cycle or three and four, and
/// these have, at a latency of 4, their 16 sums. (With 11 rows or more g++ puts sums on the stack.)
inline constexpr int gemm_rows = 10;

inline Floats broadcast(float x) { return vdupq_n_f32(x); }

/// What lies at any address.
template <class T>
inline T load_bits(const std::byte* p) {
  T bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return bits;
}

inline Floats load(const std::byte* p) { return load_bits<Floats>(p); }
inline Floats load(const float* p) { return vld1q_f32(p); }

/// The first n < lanes floats, and zeros.
inline Floats load_part(const void* p, index_t n) {
  const auto* x = static_cast<const float*>(p);
  float32x4_t v = vdupq_n_f32(0);
  if (n > 0) v = vld1q_lane_f32(x, v, 0);
  if (n > 1) v = vld1q_lane_f32(x + 1, v, 1);
  if (n > 2) v = vld1q_lane_f32(x + 2, v, 2);
  return v;
}

inline void store(float* p, Floats v) { vst1q_f32(p, v); }

/// The first n < lanes floats.
inline void store_part(float* p, Floats v, index_t n) {
  if (n > 0) vst1q_lane_f32(p, v, 0);
  if (n > 1) vst1q_lane_f32(p + 1, v, 1);
  if (n > 2) vst1q_lane_f32(p + 2, v, 2);
}

/// a b + c, rounded once.
inline Floats multiply_add(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }

/// (v0 + v1) + (v2 + v3).
inline float sum(Floats v) { return vaddvq_f32(v); }

inline float load_half(const std::byte* p) {
  const uint16x4_t bits = vdup_n_u16(load_bits<std::uint16_t>(p));
  return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(bits)), 0);
}

/// `lanes` stored numbers as floats.
inline Floats load_halves(const std::byte* p) {
  return vcvt_f32_f16(vreinterpret_f16_u64(vcreate_u64(load_bits<std::uint64_t>(p))));
}

inline Floats load_bfloats(const std::byte* p) {
  const uint16x4_t bits = vcreate_u16(load_bits<std::uint64_t>(p));
  return vreinterpretq_f32_u32(vshll_n_u16(bits, 16));
}

/// `lanes` bytes.
inline uint8x8_t load_bytes(const std::byte* p) {
  return vreinterpret_u8_u32(vdup_n_u32(load_bits<std::uint32_t>(p)));
}
inline Floats from_bytes(uint8x8_t bytes) {
  return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
}

inline Floats load_int8s(const std::byte* p) {
  const int16x8_t wide = vmovl_s8(vreinterpret_s8_u8(load_bytes(p)));
  return vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide)));
}

/// The lower, and the upper, four bits of `lanes` bytes.
inline Floats load_low_nibbles(const std::byte* p) {
  return from_bytes(vand_u8(load_bytes(p), vdup_n_u8(15)));
}
inline Floats load_high_nibbles(const std::byte* p) {
  return from_bytes(vshr_n_u8(load_bytes(p), 4));
}

/// Words j = 0 .. 3 of `lanes` rows: word j of row i, at p + i stride + 4 j, in lane i of words[j].
[[gnu::always_inline]] inline void load_words(const std::byte* p, index_t stride,
                                              Words (&words)[4]) {
  const int32x4_t a = load_bits<Words>(p), b = load_bits<Words>(p + stride),
                  c = load_bits<Words>(p + 2 * stride), d = load_bits<Words>(p + 3 * stride);
  const int64x2_t low01 = vreinterpretq_s64_s32(vzip1q_s32(a, b)),
                  high01 = vreinterpretq_s64_s32(vzip2q_s32(a, b)),
                  low23 = vreinterpretq_s64_s32(vzip1q_s32(c, d)),
                  high23 = vreinterpretq_s64_s32(vzip2q_s32(c, d));
  words[0] = vreinterpretq_s32_s64(vzip1q_s64(low01, low23));
  words[1] = vreinterpretq_s32_s64(vzip2q_s64(low01, low23));
  words[2] = vreinterpretq_s32_s64(vzip1q_s64(high01, high23));
  words[3] = vreinterpretq_s32_s64(vzip2q_s64(high01, high23));
}

/// The half in the lower 16 bits of each word.
inline Floats halves(Words w) { return vcvt_f32_f16(vreinterpret_f16_s16(vmovn_s32(w))); }

/// The greater of two, lane by lane; and the greatest lane.
inline Words greater_words(Words a, Words b) { return vmaxq_s32(a, b); }
inline std::int32_t greatest(Words w) { return vmaxvq_s32(w); }

inline std::int32_t sum(Words w) { return vaddvq_s32(w); }

/// Floats as integers, to nearest, halves to even (where a program has not asked for other
/// rounding).
inline Words to_nearest(Floats v) { return vcvtq_s32_f32(vrndiq_f32(v)); }

/// Integers from -128 to 127 as bytes.
inline void store_int8s(std::int8_t* p, Words w) {
  const int16x4_t shorts = vmovn_s32(w);
  const int8x8_t bytes = vmovn_s16(vcombine_s16(shorts, shorts));
  const std::uint32_t four = vget_lane_u32(vreinterpret_u32_s8(bytes), 0);
  __builtin_memcpy(p, &four, sizeof four);
}

/// Lane by lane the larger, and the smaller, one; b where either is a NaN.
inline Floats larger(Floats a, Floats b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
inline Floats smaller(Floats a, Floats b) { return vbslq_f32(vcltq_f32(a, b), a, b); }

inline float largest(Floats v) { return vmaxvq_f32(v); }

/// p 2^n for p from 1/2 to 2 and whole n from -152 to 152, in two steps, as 2^n alone need not be a
/// normal float: the first is added to p's exponent. A NaN in p stays one.
inline Floats times_power_of_two(Floats p, Floats n) {
  const Words whole = vcvtq_s32_f32(n), half = whole >> 1;
  const Words first = reinterpret_cast<Words>(p) + (half << 23);
  const Words second = (whole - half + 127) << 23;
  return reinterpret_cast<Floats>(first) * reinterpret_cast<Floats>(second);
}

/// The same for n <= 0; 0 below 2^-125.
inline Floats times_small_power_of_two(Floats p, Floats n) {
  const int32x4_t bits = vshlq_n_s32(vcvtq_s32_f32(n), 23);  // 0 of a NaN
  const uint32x4_t scaled = vreinterpretq_u32_s32(vaddq_s32(vreinterpretq_s32_f32(p), bits));
  return vreinterpretq_f32_u32(vbicq_u32(scaled, vcltq_f32(n, vdupq_n_f32(-125))));
}

/// Half as many doubles, in pairs for a vector of floats.
using Doubles [[gnu::vector_size(16)]] = double;
using Longs [[gnu::vector_size(16)]] = std::int64_t;

inline Doubles broadcast_double(double x) { return vdupq_n_f64(x); }

/// The two halves of a vector of floats; and back, rounded.
inline Doubles low_doubles(Floats v) { return vcvt_f64_f32(vget_low_f32(v)); }
inline Doubles high_doubles(Floats v) { return vcvt_high_f64_f32(v); }
inline Floats to_floats(Doubles low, Doubles high) {
  return vcvt_high_f32_f64(vcvt_f32_f64(low), high);
}

inline Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return vfmaq_f64(c, a, b); }

inline double sum(Doubles v) { return vaddvq_f64(v); }

/// Lanes 2i and 2i + 1 exchanged.
inline Floats swap_pairs(Floats v) { return vrev64q_f32(v); }

/// a[0] b[0] a[1] b[1] and so on: two vectors.
inline void store_interleaved(float* p, Floats a, Floats b) {
  store(p, vzip1q_f32(a, b));
  store(p + lanes, vzip2q_f32(a, b));
}

/// Rows of x that a product in floats takes at a time.
inline constexpr int dot_rows = 4;

/// A word from each of `lanes` rows, or blocks, stride bytes apart.
inline Words load_word(const std::byte* p, index_t stride) {
  return Words{load_bits<std::int32_t>(p), load_bits<std::int32_t>(p + stride),
               load_bits<std::int32_t>(p + 2 * stride), load_bits<std::int32_t>(p + 3 * stride)};
}

/// 16 in byte i of each word whose bit 4 j + i is set.
inline Words fifth_bits(Words w, int j) {
  // Byte j / 2 of each word, four times; then a bit of it in each byte.
  const uint32x4_t byte = {0, 0x04040404, 0x08080808, 0x0C0C0C0C};
  const uint32x4_t place = vaddq_u32(byte, vdupq_n_u32(0x01010101u * static_cast<unsigned>(j / 2)));
  const uint32x4_t bit = vdupq_n_u32(j % 2 == 0 ? 0x08040201u : 0x80402010u);
  const uint8x16_t spread = vqtbl1q_u8(vreinterpretq_u8_s32(w), vreinterpretq_u8_u32(place));
  const uint8x16_t set = vtstq_u8(spread, vreinterpretq_u8_u32(bit));
  return vreinterpretq_s32_u8(vandq_u8(set, vdupq_n_u8(16)));
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

/// Between steps of a group: g++ for ARM, which schedules before it has given out registers, would
/// begin with the loads of all steps and put most of them on the stack.
[[gnu::always_inline]] inline void keep_order() { asm volatile(""); }

/// For a vector that has several products, where a compiler would load it for each.
inline void keep_loaded(Words&) {}

/// Signed bytes are multiplied as they are; their largest number.
inline constexpr int signed_zero = 0, signed_bytes = 128;
inline Words prepare_signed(Words w) { return w; }
