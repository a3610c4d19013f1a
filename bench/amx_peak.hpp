// Products of bf16 tiles in registers, on processors with AMX (Intel SDM vol. 1, chapter 18).
#pragma once

#include <cstdint>
#include <vector>

#include "imbrex/base/index.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace bench::amx {

/// FLOP of a round: four products of 16 x 32 by 32 x 16.
inline constexpr double round_flops = 4 * 2 * 16 * 32 * 16;

#if defined(__x86_64__) && defined(__linux__)

/// Whether processor and system have it. The system's leave is asked for, once a process.
inline bool available() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1) != 0 &&  // bf16
                   (d >> 24 & 1) != 0;                                                    // tiles
  constexpr long request_permission = 0x1023, tile_data = 18;
  return has && syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

/// Multiplies tiles of ones, `rounds` times; every element of the four sums is then 32 rounds,
/// exact below 2^24. Returns whether it is.
[[gnu::target("amx-tile,amx-bf16")]] inline bool run(imbrex::index_t rounds) {
  struct alignas(64) Config {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  static_assert(sizeof(Config) == 64);
  const Config config;
  const std::vector<std::uint16_t> ones(16 * 32, 0x3F80);
  asm volatile("" : : "g"(&config) : "memory");  // or g++ 12 may lose the stores to it
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, ones.data(), 64);
  _tile_loadd(5, ones.data(), 64);
  _tile_loadd(6, ones.data(), 64);
  _tile_loadd(7, ones.data(), 64);
  for (imbrex::index_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  std::vector<float> sums(4 * 256);
  _tile_stored(0, sums.data(), 64);
  _tile_stored(1, sums.data() + 256, 64);
  _tile_stored(2, sums.data() + 512, 64);
  _tile_stored(3, sums.data() + 768, 64);
  _tile_release();
  bool right = true;
  for (const float sum : sums) right = right && sum == 32 * static_cast<float>(rounds);
  return right;
}

#else

inline bool available() { return false; }
inline bool run(imbrex::index_t) { return false; }

#endif

}  // namespace bench::amx
