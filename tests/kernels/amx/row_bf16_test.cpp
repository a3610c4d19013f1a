// Rows of weights in bf16: the decoders that feed tiles.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "imbrex/kernels/quant/decode.hpp"
#include "tests/kernels/amx/emulated.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::BfloatRow;

namespace {

struct Rows {
  const char* name;
  const BfloatRow (&by_dtype)[dtype_count];
};

std::vector<Rows> all_rows() {
  std::vector<Rows> rows{{"portable", kernels::arch::emulated::bfloat_rows.by_dtype}};
#if defined(__x86_64__)
  if (has_bfloat_vectors()) {
    rows.push_back({"avx512", kernels::arch::emulated_avx512::bfloat_rows.by_dtype});
  }
#endif
  return rows;
}

/// The decoder's number rounded. Products flush subnormal numbers, so those may stay.
std::uint16_t rounded(float x) {
  return to_bf16(std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x).bits;
}

}  // namespace

TEST_CASE("amx rows: quantised weights and BF16 have a decoder, F32 and F16 none") {
  for (const Rows& rows : all_rows()) {
    for (int d = 0; d < dtype_count; ++d) {
      CHECK((rows.by_dtype[d] != nullptr) ==
            (static_cast<Dtype>(d) != Dtype::f32 && static_cast<Dtype>(d) != Dtype::f16));
    }
  }
}

// Stored bytes end at a page that may not be read, and start at odd addresses; what is written ends
// at one that may not be written.
TEST_CASE("amx rows: the decoded weights rounded to bf16, bit for bit, of every format") {
  for (const Rows& rows : all_rows()) {
    for (int d = 0; d < dtype_count; ++d) {
      if (rows.by_dtype[d] == nullptr) continue;
      const Dtype dtype = static_cast<Dtype>(d);
      for (const index_t count : {1, 31, 32, 64, 96, 256, 512, 1024}) {
        if (count % traits(dtype).block != 0) continue;
        const index_t size = row_bytes(dtype, count);
        const GuardedBytes stored(static_cast<std::size_t>(size));
        const GuardedBytes out(static_cast<std::size_t>(count) * sizeof(bf16));
        Random random(static_cast<std::uint64_t>(count));
        for (int round = 0; round < 8; ++round) {
          for (index_t i = 0; i < size; ++i) {  // halves are finite
            stored.data()[i] = static_cast<std::byte>(random() & 0xBFu);
          }
          rows.by_dtype[d](stored.data(), count, reinterpret_cast<bf16*>(out.data()));
          std::vector<float> decoded(static_cast<std::size_t>(count));
          kernels::decode(dtype, stored.data(), count, decoded.data());
          index_t wrong = 0;
          for (index_t i = 0; i < count; ++i) {
            std::uint16_t got;
            std::memcpy(&got, out.data() + 2 * i, 2);
            const float want = decoded[static_cast<std::size_t>(i)];
            const bool copied = dtype == Dtype::bf16 && got == to_bf16(want).bits;
            wrong += got == rounded(want) || copied ? 0 : 1;
          }
          CAPTURE(rows.name);
          CAPTURE(std::string(name(dtype)));
          CAPTURE(count);
          CHECK(wrong == 0);
        }
      }
    }
  }
}

// Q8_0 with d = 1 + 2^-10 (halves have ten bits of fraction): d q needs up to 18 bits, bf16 has 8.
//
//     q = 1:     1 + 2^-10             -> 1
//     q = 127:   127 + 127/1024        -> 127            (a unit is 1/2)
//     q = -128:  -128 - 1/8            -> -128
//     q = 3:     3 + 3/1024            -> 3
//
// and with d = 1 + 2^-8 + 2^-9 ... ties: d = 1 + 2^-8, q = 1: half way from 1 to 1 + 2^-7, to even:
// 1; q = 3: 3 + 3/256, a unit is 1/64: 0.75 units, 3 + 1/64.
TEST_CASE("amx rows: rounding by hand") {
  for (const Rows& rows : all_rows()) {
    std::vector<std::byte> block(34);
    const auto number = [&](f16 d, std::int8_t q) {
      std::memcpy(block.data(), &d, 2);
      for (int i = 0; i < 32; ++i) block[static_cast<std::size_t>(2 + i)] = std::byte{0};
      std::memcpy(block.data() + 2 + 17, &q, 1);
      bf16 out[32];
      rows.by_dtype[static_cast<int>(Dtype::q8_0)](block.data(), 32, out);
      for (int i = 0; i < 32; ++i) CHECK((i == 17 || out[i].bits == 0));
      return to_float(out[17]);
    };
    const f16 d = to_f16(1 + 0x1p-10f), tie = to_f16(1 + 0x1p-8f);
    CHECK(number(d, 1) == 1);
    CHECK(number(d, 127) == 127);
    CHECK(number(d, -128) == -128);
    CHECK(number(d, 3) == 3);
    CHECK(number(tie, 1) == 1);
    CHECK(number(tie, 3) == 3 + 0x1p-6f);
    CHECK(number(tie, -3) == -3 - 0x1p-6f);
  }
}

TEST_CASE("amx rows: a scale that is infinite or no number is seen in every number it has") {
  for (const Rows& rows : all_rows()) {
    std::vector<std::byte> block(34, std::byte{1});
    const auto decoded = [&](std::uint16_t d) {
      std::memcpy(block.data(), &d, 2);
      bf16 out[32];
      rows.by_dtype[static_cast<int>(Dtype::q8_0)](block.data(), 32, out);
      return std::vector<bf16>(out, out + 32);
    };
    for (const bf16 v : decoded(0x7C00)) CHECK(v.bits == 0x7F80);
    for (const bf16 v : decoded(0x7E01)) CHECK(std::isnan(to_float(v)));
  }
}
