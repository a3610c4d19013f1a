// The vocabulary of tiles, in AMX (Intel SDM volume 1, chapter 18). Included by
// arch/amx/kernels.hpp; tests include another one, which computes the same in plain loops.
//
// There are eight tiles, 0 to 7, of 16 rows of 64 bytes: 16 x 16 floats, or 16 x 32 numbers in
// bf16. They are a thread's own, as registers are.
//
// Instructions are written out, not taken from <immintrin.h>: there tiles are named by macros, so
// that a template cannot number them, and g++ 12's say nothing of the memory that they read: stores
// to it may then come too late or be dropped. Both assembler syntaxes are given, for -masm=intel.

/// What `ldtilecfg` reads. Palette 1 is the one there is.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

/// Before a thread uses tiles, and when it has done: the system then has less to save.
inline void configure_tiles() {
  const TileConfig config;
  asm volatile("ldtilecfg %0" : : "m"(config));
}
inline void release_tiles() { asm volatile("tilerelease"); }

template <int tile>
[[gnu::always_inline]] inline void zero_tile() {
  asm volatile("{tilezero %%tmm%c0|tilezero tmm%c0}" : : "i"(tile));
}

/// Rows lie `stride` bytes apart.
template <int tile>
[[gnu::always_inline]] inline void load_tile(const void* rows, index_t stride) {
  asm volatile("{tileloadd (%0,%1,1), %%tmm%c2|tileloadd tmm%c2, [%0+%1*1]}"
               :
               : "r"(rows), "r"(stride), "i"(tile)
               : "memory");
}

/// The same of what is read once and should not displace the first-level cache.
template <int tile>
[[gnu::always_inline]] inline void stream_tile(const void* rows, index_t stride) {
  asm volatile("{tileloaddt1 (%0,%1,1), %%tmm%c2|tileloaddt1 tmm%c2, [%0+%1*1]}"
               :
               : "r"(rows), "r"(stride), "i"(tile)
               : "memory");
}

template <int tile>
[[gnu::always_inline]] inline void store_tile(void* rows, index_t stride) {
  asm volatile("{tilestored %%tmm%c2, (%0,%1,1)|tilestored [%0+%1*1], tmm%c2}"
               :
               : "r"(rows), "r"(stride), "i"(tile)
               : "memory");
}

/// c[i][j] += the sum over k < 32 of a[i][k] b[k / 2][2 j + k % 2]: c in f32, a and b in bf16, so
/// that b's words hold pairs of k. Products are exact and sums are rounded to nearest, even and odd
/// k apart, then both together, then with c; subnormal numbers count as zeros everywhere (SDM
/// volume 2, TDPBF16PS).
template <int c, int a, int b>
[[gnu::always_inline]] inline void multiply_tiles() {
  asm volatile("{tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0|tdpbf16ps tmm%c0, tmm%c1, tmm%c2}"
               :
               : "i"(c), "i"(a), "i"(b));
}
