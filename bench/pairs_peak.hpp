// Products of pairs of bf16 in registers, on processors with AVX512_BF16.
#pragma once

#include <utility>

#include "imbrex/base/index.hpp"
#include "imbrex/base/isa.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench::pairs {

/// FLOP of a round: 14 instructions, more than can be under way at once (a latency of 6 cycles on
/// 2 units), of 32 multiply-adds.
inline constexpr double round_flops = 14 * 2 * 32;

#if defined(__x86_64__)

inline bool available() {
  return imbrex::available(imbrex::Isa::avx512) && __builtin_cpu_supports("avx512bf16");
}

template <std::size_t... J>
[[gnu::target("avx512f,avx512bf16")]] bool run(imbrex::index_t rounds, std::index_sequence<J...>) {
  const __m512i ones = _mm512_set1_epi16(0x3F80);
  const __m512bh pairs = reinterpret_cast<__m512bh>(ones);
  __m512 sums[] = {_mm512_set1_ps(static_cast<float>(J))...};
  for (imbrex::index_t i = 0; i < rounds; ++i) {
    ((sums[J] = _mm512_dpbf16_ps(sums[J], pairs, pairs)), ...);
  }
  bool right = true;
  const auto check = [&](const __m512& sum, int start) {
    alignas(64) float lanes[16];
    __builtin_memcpy(lanes, &sum, sizeof lanes);
    const float expected = static_cast<float>(start + 2 * rounds);
    for (const float lane : lanes) right = right && lane == expected;
  };
  (check(sums[J], static_cast<int>(J)), ...);
  return right;
}

/// Multiplies pairs of ones, `rounds` times, fewer than 2^23; returns whether each sum is 2 rounds
/// larger then.
inline bool run(imbrex::index_t rounds) { return run(rounds, std::make_index_sequence<14>()); }

#else

inline bool available() { return false; }
inline bool run(imbrex::index_t) { return false; }

#endif

}  // namespace bench::pairs
