// The number formats in a process that flushes subnormals to zero, as other libraries switch it on.
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "imbrex/base/bf16.hpp"
#include "imbrex/base/f16.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

using namespace imbrex;

namespace {

/// Sets the flags FTZ (results) and DAZ (operands), where the processor has them, for a while.
class FlushToZero {
#if defined(__SSE2__)
 public:
  FlushToZero() { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  unsigned before_ = _mm_getcsr();
#else
 public:
  FlushToZero() {}
#endif
};

struct All {
  std::vector<std::uint32_t> floats, halves_back, bf16_back;
};

/// Every half and every bf16 as the bits of a float, and back.
All convert_all() {
  All all;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const f16 half{static_cast<std::uint16_t>(bits)};
    const bf16 brain{static_cast<std::uint16_t>(bits)};
    all.floats.push_back(std::bit_cast<std::uint32_t>(to_float(half)));
    all.halves_back.push_back(to_f16(std::bit_cast<float>(all.floats.back())).bits);
    all.bf16_back.push_back(to_bf16(to_float(brain)).bits);
  }
  return all;
}

}  // namespace

TEST_CASE("halves and bf16 are the same bits where subnormals are flushed to zero") {
  const All plain = convert_all();
  CHECK(plain.floats[1] == 0x33800000);  // 2^-24, a subnormal half
  CHECK(plain.bf16_back[1] == 1);        // 2^-133, a subnormal of bf16 and of float
  const FlushToZero flush;
#if defined(__SSE2__)
  volatile float tiny = std::bit_cast<float>(1u);
  if (tiny * 1.0f != 0.0f) MESSAGE("skipped: here they are not flushed");  // valgrind
#endif
  const All flushed = convert_all();
  CHECK(flushed.floats == plain.floats);
  CHECK(flushed.halves_back == plain.halves_back);
  CHECK(flushed.bf16_back == plain.bf16_back);
  CHECK(to_f16(std::bit_cast<float>(0x33800000u)).bits == 1);
}
