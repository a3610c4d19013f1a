// The words of arch/amx/simd.inl over the scalar vocabulary of vectors.

inline Words load_bytes(const std::byte* p) {
  std::uint8_t v[lanes];
  __builtin_memcpy(v, p, sizeof v);
  return Words{v[0], v[1], v[2], v[3]};
}
inline Words lane_numbers() { return Words{0, 1, 2, 3}; }
inline Words broadcast_word(std::int32_t word) { return Words{word, word, word, word}; }

/// Copied as bytes: what is stored as bf16 may be loaded as words.
inline void store_bfloats(bf16* p, Floats low, Floats high) {
  bf16 numbers[2 * lanes];
  for (int i = 0; i < lanes; ++i) {
    numbers[i] = to_bf16(flushed(low[i]));
    numbers[lanes + i] = to_bf16(flushed(high[i]));
  }
  __builtin_memcpy(p, numbers, sizeof numbers);
}

inline void store_bfloat_pairs(bf16* p, Floats even, Floats odd) {
  bf16 numbers[2 * lanes];
  for (int i = 0; i < lanes; ++i) {
    numbers[2 * i] = to_bf16(flushed(even[i]));
    numbers[2 * i + 1] = to_bf16(flushed(odd[i]));
  }
  __builtin_memcpy(p, numbers, sizeof numbers);
}
