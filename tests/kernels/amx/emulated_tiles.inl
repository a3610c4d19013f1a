// The vocabulary of arch/amx/tiles.inl in plain loops, for every machine. TDPBF16PS follows the
// operation in Intel's SDM (volume 2): for each element two sums of fused multiply-adds, of even
// and of odd k, from zero; both added; that added to c. Each step is rounded to nearest, halves to
// even, and subnormal numbers are zeros as operands and as results.

/// A thread's tiles. Use of any before they are configured, or after their release, is a mistake
/// (the processor would stop the program), and counted.
struct EmulatedTiles {
  float rows[8][16][16];
  bool configured;
};
inline thread_local EmulatedTiles emulated_tiles{};
inline int misuses = 0;  // of all threads

/// The tile, if tiles are configured.
inline float (&used_tile(int tile))[16][16] {
  if (!emulated_tiles.configured) __atomic_fetch_add(&misuses, 1, __ATOMIC_RELAXED);
  return emulated_tiles.rows[tile];
}

inline void configure_tiles() { emulated_tiles.configured = true; }
inline void release_tiles() { emulated_tiles = {}; }

template <int tile>
inline void zero_tile() {
  __builtin_memset(used_tile(tile), 0, 1024);
}

template <int tile>
inline void load_tile(const void* rows, index_t stride) {
  auto& t = used_tile(tile);
  for (int i = 0; i < 16; ++i) {
    __builtin_memcpy(t[i], static_cast<const std::byte*>(rows) + i * stride, 64);
  }
}

template <int tile>
inline void stream_tile(const void* rows, index_t stride) {
  load_tile<tile>(rows, stride);
}

template <int tile>
inline void store_tile(void* rows, index_t stride) {
  const auto& t = used_tile(tile);
  for (int i = 0; i < 16; ++i) {
    __builtin_memcpy(static_cast<std::byte*>(rows) + i * stride, t[i], 64);
  }
}

/// x, or a zero of its sign where it is subnormal.
inline float flushed(float x) {
  return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}

/// The bf16 numbers in a tile's words, as floats: of even k, and of odd k.
struct BfloatPairs {
  float even[16][16], odd[16][16];

  explicit BfloatPairs(const float (&words)[16][16]) {
    for (int i = 0; i < 16; ++i) {
      bf16 numbers[32];
      __builtin_memcpy(numbers, words[i], sizeof numbers);
      for (int j = 0; j < 16; ++j) {
        even[i][j] = flushed(to_float(numbers[2 * j]));
        odd[i][j] = flushed(to_float(numbers[2 * j + 1]));
      }
    }
  }
};

template <int c, int a, int b>
inline void multiply_tiles() {
  const BfloatPairs left(used_tile(a)), right(used_tile(b));
  auto& sums = used_tile(c);
  for (int i = 0; i < 16; ++i) {
    float even[16] = {}, odd[16] = {};
    for (int k = 0; k < 16; ++k) {
      for (int j = 0; j < 16; ++j) {
        even[j] = flushed(__builtin_fmaf(left.even[i][k], right.even[k][j], even[j]));
        odd[j] = flushed(__builtin_fmaf(left.odd[i][k], right.odd[k][j], odd[j]));
      }
    }
    for (int j = 0; j < 16; ++j) {
      sums[i][j] = flushed(flushed(sums[i][j]) + flushed(even[j] + odd[j]));
    }
  }
}
