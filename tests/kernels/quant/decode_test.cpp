// Stored numbers to float. Right values: Python's gguf package (tests/golden/quant/make.py), the
// formulas of the formats worked by hand, and base/'s scalar conversions for the halves.
#include "imbrex/kernels/quant/decode.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace imbrex;

namespace {

struct Golden {
  std::vector<std::byte> stored;
  std::vector<float> numbers;
};

Golden read_golden(Dtype dtype, const std::string& format) {
  std::ifstream file(IMBREX_GOLDEN_DIR "/quant/decode_" + format + ".bin", std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  REQUIRE(bytes.size() > 4);
  std::uint32_t blocks;
  std::memcpy(&blocks, bytes.data(), 4);
  Golden golden;
  golden.stored.resize(blocks * static_cast<std::size_t>(traits(dtype).bytes));
  golden.numbers.resize(blocks * static_cast<std::size_t>(traits(dtype).block));
  REQUIRE(bytes.size() == 4 + golden.stored.size() + golden.numbers.size() * 4);
  std::memcpy(golden.stored.data(), bytes.data() + 4, golden.stored.size());
  std::memcpy(golden.numbers.data(), bytes.data() + 4 + golden.stored.size(),
              golden.numbers.size() * 4);
  return golden;
}

/// Decodes from an odd address, between guards, and compares bit by bit: see quant/block.hpp for
/// why there is no rounding in which right decoders could differ.
void check_format(Dtype dtype, const std::string& format) {
  CAPTURE(format);
  const Golden golden = read_golden(dtype, format);
  const index_t count = static_cast<index_t>(golden.numbers.size());
  REQUIRE(count >= 3 * traits(dtype).block);
  std::vector<std::byte> moved(golden.stored.size() + 1);
  std::memcpy(moved.data() + 1, golden.stored.data(), golden.stored.size());

  std::vector<float> out(golden.numbers.size() + 2, 77.0f);
  kernels::decode(dtype, moved.data() + 1, count, out.data() + 1);
  CHECK(out.front() == 77.0f);
  CHECK(out.back() == 77.0f);
  int wrong = 0;
  bool all_zero = true;
  for (std::size_t i = 0; i < golden.numbers.size(); ++i) {
    all_zero = all_zero && golden.numbers[i] == 0.0f;
    if (out[i + 1] == golden.numbers[i]) continue;
    if (wrong++ == 0) MESSAGE("number ", i, ": ", out[i + 1], ", not ", golden.numbers[i]);
  }
  CHECK(wrong == 0);
  CHECK_FALSE(all_zero);
}

}  // namespace

TEST_CASE("every quantised format decodes as Python's gguf does") {
  check_format(Dtype::q4_0, "q4_0");
  check_format(Dtype::q4_1, "q4_1");
  check_format(Dtype::q5_0, "q5_0");
  check_format(Dtype::q5_1, "q5_1");
  check_format(Dtype::q8_0, "q8_0");
  check_format(Dtype::q2_k, "q2_k");
  check_format(Dtype::q3_k, "q3_k");
  check_format(Dtype::q4_k, "q4_k");
  check_format(Dtype::q5_k, "q5_k");
  check_format(Dtype::q6_k, "q6_k");
}

TEST_CASE("Q4_0: low halves are numbers 0 to 15, high halves 16 to 31") {
  // d = 1, byte j = j | (15 - j) << 4: x[j] = j - 8, x[j + 16] = 15 - j - 8.
  kernels::BlockQ4_0 block{to_f16(1.0f), {}};
  for (int j = 0; j < 16; ++j) block.q[j] = static_cast<std::uint8_t>(j | (15 - j) << 4);
  float x[32];
  kernels::decode_block(block, x);
  for (int j = 0; j < 16; ++j) {
    CHECK(x[j] == static_cast<float>(j - 8));
    CHECK(x[j + 16] == static_cast<float>(7 - j));
  }
}

TEST_CASE("Q4_1: the numbers start after scale and offset, at byte 4") {
  // d = 0.5, m = -2: q = 0 gives -2, q = 15 gives 5.5.
  std::byte stored[20] = {};
  const f16 d = to_f16(0.5f), m = to_f16(-2.0f);
  std::memcpy(stored, &d, 2);
  std::memcpy(stored + 2, &m, 2);
  stored[4] = std::byte{0x0F};
  float x[32];
  kernels::decode(Dtype::q4_1, stored, 32, x);
  CHECK(x[0] == 5.5f);
  for (int i = 1; i < 32; ++i) CHECK(x[i] == -2.0f);
}

TEST_CASE("the packed 6-bit scales of Q4_K and Q5_K") {
  constexpr std::uint8_t scales[12] = {0x41, 0x82, 0xC3, 0x04, 0x15, 0xA6,
                                       0x77, 0xC8, 0x9A, 0xBC, 0xDE, 0xF1};
  constexpr int expected[8][2] = {{1, 21}, {2, 38},  {3, 55},  {4, 8},
                                  {26, 9}, {44, 43}, {62, 29}, {1, 63}};
  kernels::BlockQ4_K block{to_f16(0.25f), to_f16(0.125f), {}, {}};
  std::memcpy(block.scales, scales, sizeof(scales));
  for (int i = 0; i < 128; ++i) block.q[i] = static_cast<std::uint8_t>(13 * i + 1);
  float x[256];
  kernels::decode_block(block, x);
  for (int g = 0; g < 8; ++g) {
    CAPTURE(g);
    const kernels::ScaleK pair = kernels::scale_k(scales, g);
    CHECK(pair.scale == expected[g][0]);
    CHECK(pair.offset == expected[g][1]);
    for (int l = 0; l < 32; ++l) {
      const int byte = (13 * (g / 2 * 32 + l) + 1) & 255;
      const int q = g % 2 == 0 ? byte & 15 : byte >> 4;
      // Quarters and eighths of small integers: exact.
      CHECK(x[g * 32 + l] == 0.25f * static_cast<float>(expected[g][0] * q) -
                                 0.125f * static_cast<float>(expected[g][1]));
    }
  }
}

TEST_CASE("all 65536 halves widen as the scalar conversion does") {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> out(bits.size());
  int wrong = 0;
  kernels::decode(Dtype::f16, reinterpret_cast<const std::byte*>(bits.data()), 65536, out.data());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    wrong += std::bit_cast<std::uint32_t>(out[i]) !=
             std::bit_cast<std::uint32_t>(to_float(f16{bits[i]}));
  }
  kernels::decode(Dtype::bf16, reinterpret_cast<const std::byte*>(bits.data()), 65536, out.data());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    wrong += std::bit_cast<std::uint32_t>(out[i]) !=
             std::bit_cast<std::uint32_t>(to_float(bf16{bits[i]}));
  }
  CHECK(wrong == 0);
}

TEST_CASE("formats without blocks take any count, at any address") {
  const float x[3] = {1.5f, -2.0f, 0.25f};
  std::byte stored[13];
  float out[4] = {0, 0, 0, 9};
  std::memcpy(stored + 1, x, sizeof(x));
  kernels::decode(Dtype::f32, stored + 1, 3, out);
  CHECK(out[0] == 1.5f);
  CHECK(out[2] == 0.25f);
  for (int i = 0; i < 3; ++i) {
    const f16 h = to_f16(x[i]);
    std::memcpy(stored + 1 + i * 2, &h, 2);
  }
  out[2] = 0.0f;
  kernels::decode(Dtype::f16, stored + 1, 3, out);
  CHECK(out[2] == 0.25f);
  CHECK(out[3] == 9.0f);
  kernels::decode(Dtype::q6_k, nullptr, 0, nullptr);
  kernels::decode(Dtype::f32, nullptr, 0, nullptr);
}

TEST_CASE("a count that is not whole blocks is an error") {
  std::byte stored[34] = {};
  float out[64];
  CHECK_THROWS_WITH_AS(kernels::decode(Dtype::q8_0, stored, 33, out),
                       "decode: 33 numbers are not whole blocks of Q8_0", ShapeError);
  CHECK_THROWS_AS(kernels::decode(Dtype::q8_0, stored, -32, out), ShapeError);
}

TEST_CASE("a format that there is not is an error, and nothing is written") {
  std::byte stored[34] = {};
  float out[32] = {7};
  for (const int number : {13, 99, 255}) {
    CHECK_THROWS_AS(kernels::decode(static_cast<Dtype>(number), stored, 32, out), ConfigError);
    CHECK_THROWS_AS(kernels::decode(static_cast<Dtype>(number), stored, 0, out), ConfigError);
  }
  CHECK(out[0] == 7);
}
