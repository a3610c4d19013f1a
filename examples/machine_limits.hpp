// What this machine can do at most: how fast memory is read, and how fast floats are multiplied and
// added; to hold programs against.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "imbrex/base/isa.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/base/threads.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "imbrex/tensor/buffer.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace examples {

/// Seconds of the fastest of `times` runs.
template <class Run>
double fastest(int times, const Run& run) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = (std::min)(best, taken.count());
  }
  return best;
}

/// Keeps the compiler from leaving out what computes x.
template <class T>
void keep(const T& x) {
  asm volatile("" : : "g"(&x) : "memory");
}

/// Bytes a second that all threads together read from memory: each adds up its part of a buffer of
/// `bytes`, which should be well above the last cache.
inline double measure_read_bandwidth(imbrex::index_t bytes = imbrex::index_t{512} << 20,
                                     int times = 5) {
  const imbrex::index_t team = imbrex::threads(), words = bytes / 8 / team / 8 * 8;
  imbrex::Buffer<std::uint64_t> memory(words * team);
  // Every page is written once: before, they are all the system's one page of zeros.
  imbrex::parallel_for(team, [&](imbrex::index_t i) {
    std::memset(memory.data() + i * words, 1, static_cast<std::size_t>(words) * 8);
  });
  const double seconds = fastest(times, [&] {
    imbrex::parallel_for(team, [&](imbrex::index_t item) {
      const std::uint64_t* from = memory.data() + item * words;
      std::uint64_t sums[8] = {};
      for (imbrex::index_t i = 0; i < words; i += 8) {
        // What processors call for by themselves ends at each page. (Beyond the buffer a prefetch
        // does nothing.)
        const auto at = reinterpret_cast<std::uintptr_t>(from + i);
        __builtin_prefetch(reinterpret_cast<const void*>(at + 512), 0, 2);
        for (int j = 0; j < 8; ++j) sums[j] += from[i + j];
      }
      keep(sums);
    });
  });
  return static_cast<double>(words * team * 8) / seconds;
}

/// Multiply-adds in registers alone. Each set's function does `rounds` times 12 of them, more than
/// can be under way at once (a latency of 4 cycles on 2 units).
namespace fma {

#if defined(__x86_64__)

template <std::size_t... J>
[[gnu::target("avx512f")]] void run_avx512(imbrex::index_t rounds, std::index_sequence<J...>) {
  const __m512 x = _mm512_set1_ps(0.5f);
  __m512 sums[] = {_mm512_set1_ps(static_cast<float>(J))...};
  for (imbrex::index_t i = 0; i < rounds; ++i) {
    ((sums[J] = _mm512_fmadd_ps(sums[J], x, x)), ...);
  }
  keep(sums);
}

template <std::size_t... J>
[[gnu::target("avx2,fma")]] void run_avx2(imbrex::index_t rounds, std::index_sequence<J...>) {
  const __m256 x = _mm256_set1_ps(0.5f);
  __m256 sums[] = {_mm256_set1_ps(static_cast<float>(J))...};
  for (imbrex::index_t i = 0; i < rounds; ++i) {
    ((sums[J] = _mm256_fmadd_ps(sums[J], x, x)), ...);
  }
  keep(sums);
}

#endif

/// The compiler's baseline: vectors of four floats, a product and a sum (one instruction, on 64-bit
/// ARM: that of `neon`).
template <std::size_t... J>
void run_scalar(imbrex::index_t rounds, std::index_sequence<J...>) {
  using Four [[gnu::vector_size(16)]] = float;
  const Four x = {0.5f, 0.5f, 0.5f, 0.5f};
  Four sums[] = {Four{static_cast<float>(J)}...};
  for (imbrex::index_t i = 0; i < rounds; ++i) ((sums[J] = sums[J] * x + x), ...);
  keep(sums);
}

}  // namespace fma

/// FLOP a second of all threads together, with the vectors of the instruction set in use: one
/// multiply-add of f32 is two.
inline double measure_fma_peak(int times = 20) {
  constexpr imbrex::index_t rounds = 1'000'000;
  constexpr auto accumulators = std::make_index_sequence<12>();
  const imbrex::Isa isa = imbrex::active_isa();
  const imbrex::index_t team = imbrex::threads();
  const double seconds = fastest(times, [&] {
    imbrex::parallel_for(team, [&](imbrex::index_t) {
#if defined(__x86_64__)
      if (isa >= imbrex::Isa::avx512) return fma::run_avx512(rounds, accumulators);
      if (isa == imbrex::Isa::avx2) return fma::run_avx2(rounds, accumulators);
#endif
      fma::run_scalar(rounds, accumulators);
    });
  });
  const double floats = isa >= imbrex::Isa::avx512 ? 16 : isa == imbrex::Isa::avx2 ? 8 : 4;
  return 2 * floats * 12 * static_cast<double>(rounds * team) / seconds;
}

/// FLOP a second of the library's own product of n x n matrices of f32.
inline double measure_matmul(imbrex::index_t n = 512, int times = 10) {
  using namespace imbrex;
  std::vector<float> x(static_cast<std::size_t>(n * n)), w = x, y = x;
  Random random(1);
  for (std::vector<float>* matrix : {&x, &w}) {
    for (float& number : *matrix) number = random.uniform() - 0.5f;
  }
  const double seconds = fastest(times, [&] {
    kernels::matmul({y.data(), n, n, n}, {x.data(), n, n, n},
                    {reinterpret_cast<const std::byte*>(w.data()), Dtype::f32, n, n, 4 * n});
  });
  return 2 * static_cast<double>(n * n) * static_cast<double>(n) / seconds;
}

/// The limits of one machine, with the threads and the instruction set in use.
struct MachineLimits {
  double read_bytes = 0;    ///< a second, from memory
  double fma_flops = 0;     ///< a second, in registers
  double matmul_flops = 0;  ///< a second, the library's product of f32 matrices
};

inline MachineLimits measure_limits() {
  return {measure_read_bandwidth(), measure_fma_peak(), measure_matmul()};
}

/// Of two measurements the higher: on a machine that others use, too, each may be too low.
inline MachineLimits higher(const MachineLimits& a, const MachineLimits& b) {
  return {(std::max)(a.read_bytes, b.read_bytes), (std::max)(a.fma_flops, b.fma_flops),
          (std::max)(a.matmul_flops, b.matmul_flops)};
}

}  // namespace examples
