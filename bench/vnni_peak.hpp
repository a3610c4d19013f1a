// Products of bytes in registers, on processors with AVX-512 VNNI.
#pragma once

#include <utility>

#include "imbrex/base/index.hpp"
#include "imbrex/base/isa.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench::vnni {

/// OP of a round: 14 instructions, more than can be under way at once (a latency of 5 cycles on 2
/// units), of 64 multiply-adds.
inline constexpr double round_ops = 14 * 2 * 64;

#if defined(__x86_64__)

inline bool available() {
  return imbrex::available(imbrex::Isa::avx512) && __builtin_cpu_supports("avx512vnni");
}

template <std::size_t... J>
[[gnu::target("avx512f,avx512vnni")]] bool run(imbrex::index_t rounds, std::index_sequence<J...>) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums[] = {_mm512_set1_epi32(static_cast<int>(J))...};
  for (imbrex::index_t i = 0; i < rounds; ++i) {
    ((sums[J] = _mm512_dpbusd_epi32(sums[J], ones, ones)), ...);
  }
  bool right = true;
  const auto check = [&](const __m512i& sum, int start) {
    alignas(64) int words[16];
    __builtin_memcpy(words, &sum, sizeof words);
    for (const int word : words) right = right && word == start + 4 * static_cast<int>(rounds);
  };
  (check(sums[J], static_cast<int>(J)), ...);
  return right;
}

/// Multiplies bytes of one, `rounds` times; returns whether each sum is 4 rounds larger then.
inline bool run(imbrex::index_t rounds) { return run(rounds, std::make_index_sequence<14>()); }

#else

inline bool available() { return false; }
inline bool run(imbrex::index_t) { return false; }

#endif

}  // namespace bench::vnni
