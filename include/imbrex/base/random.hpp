// A counter-based random generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). The n-th number depends on the key and n alone, so any
// thread can draw any part of a stream, and a seed gives the same numbers on every platform.
#pragma once

#include <cmath>
#include <cstdint>

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Four 32-bit words: a counter, or one draw of the generator.
struct PhiloxBlock {
  std::uint32_t word[4];
};

/// The bijection of Philox4x32-10: ten rounds over a 128-bit counter with a 64-bit key.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(p1),
                static_cast<std::uint32_t>(p0 >> 32) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(p0)}};
    key0 += 0x9E3779B9u;  // the golden ratio
    key1 += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

/// A stream of random numbers; a UniformRandomBitGenerator, with the conversions written out
/// because those of `<random>` differ between standard libraries.
class Random {
 public:
  using result_type = std::uint32_t;

  /// `seed` is the key, `stream` the upper half of the counter.
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0)
      : seed_(seed), stream_(stream) {}

  /// The range of `operator()`.
  // In parentheses, or a `max` macro would take them.
  static constexpr result_type(min)() { return 0; }
  static constexpr result_type(max)() { return 0xFFFFFFFFu; }

  /// The next 32 bits.
  constexpr result_type operator()() {
    if (used_ == 4) {
      block_ = philox4x32({{low(draw_), high(draw_), low(stream_), high(stream_)}}, low(seed_),
                          high(seed_));
      ++draw_;
      used_ = 0;
    }
    return block_.word[used_++];
  }

  /// Uniform in [0, 1): 24 random bits, each value exact in float.
  constexpr float uniform() { return static_cast<float>((*this)() >> 8) * 0x1p-24f; }

  /// Uniform in [0, 1): 53 random bits.
  constexpr double uniform_double() {
    const std::uint64_t upper = (*this)() >> 5, lower = (*this)() >> 6;
    return static_cast<double>((upper << 26) | lower) * 0x1p-53;
  }

  /// Standard normal (Box and Muller 1958): sqrt(-2 ln u) cos(2 pi v), u in (0, 1], computed in
  /// double. Logarithm and cosine are the platform's, so the last bit may differ between platforms.
  float normal() {
    const double u = 1.0 - uniform_double(), v = uniform_double();
    return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v));
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) {
    return static_cast<std::uint32_t>(x >> 32);
  }

  std::uint64_t seed_, stream_, draw_ = 0;
  PhiloxBlock block_{};
  int used_ = 4;
};

}  // namespace imbrex::inline IMBREX_ABI
