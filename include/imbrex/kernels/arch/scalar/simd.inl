// The simd vocabulary in the baseline instruction set of the platform: vectors of four floats in
// the vector extension that g++ and clang share. Included by arch/scalar/kernels.hpp.

inline constexpr const char* set_name = "scalar";

using Floats [[gnu::vector_size(16)]] = float;
inline constexpr index_t lanes = 4;

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
