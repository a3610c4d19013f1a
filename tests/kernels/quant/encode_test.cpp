// Floats to stored numbers. Right bytes: Python's gguf package (tests/golden/quant/make.py); bounds
// from the width of the formats' steps.
#include "imbrex/kernels/quant/encode.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/kernels/quant/decode.hpp"

using namespace imbrex;

namespace {

void check_format(Dtype dtype, const std::string& format) {
  CAPTURE(format);
  std::ifstream file(IMBREX_GOLDEN_DIR "/quant/encode_" + format + ".bin", std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  REQUIRE(bytes.size() > 4);
  std::uint32_t count;
  std::memcpy(&count, bytes.data(), 4);
  std::vector<float> x(count);
  const auto stored = static_cast<std::size_t>(row_bytes(dtype, count));
  REQUIRE(count >= 96);
  REQUIRE(bytes.size() == 4 + count * 4 + stored);
  std::memcpy(x.data(), bytes.data() + 4, count * 4);

  std::vector<std::byte> out(stored + 2, std::byte{0x5A});
  kernels::encode(dtype, x.data(), count, out.data() + 1);
  CHECK(out.front() == std::byte{0x5A});
  CHECK(out.back() == std::byte{0x5A});
  int wrong = 0;
  for (std::size_t i = 0; i < stored; ++i) {
    const auto right = static_cast<std::byte>(bytes[4 + count * 4 + i]);
    if (out[i + 1] != right && wrong++ == 0) MESSAGE("first wrong byte: ", i);
  }
  CHECK(wrong == 0);
}

std::vector<float> round_trip(Dtype dtype, const std::vector<float>& x) {
  const auto count = static_cast<index_t>(x.size());
  std::vector<std::byte> stored(static_cast<std::size_t>(row_bytes(dtype, count)));
  std::vector<float> out(x.size());
  kernels::encode(dtype, x.data(), count, stored.data());
  kernels::decode(dtype, stored.data(), count, out.data());
  return out;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("formats are encoded byte for byte as Python's gguf does") {
  check_format(Dtype::f16, "f16");
  check_format(Dtype::bf16, "bf16");
  check_format(Dtype::q8_0, "q8_0");
  check_format(Dtype::q4_0, "q4_0");
  check_format(Dtype::q4_1, "q4_1");
}

TEST_CASE("encoded numbers come back within half a step") {
  Random random(7);
  std::vector<float> x(96);
  for (float& v : x) v = 2.0f * random.uniform() - 1.0f;
  for (std::size_t b = 0; b < x.size(); b += 32) {
    x[b] = -1.0f;  // so that every block's range, and step, is known
    x[b + 1] = 1.0f;
  }
  const auto worst = [&](Dtype dtype) {
    const std::vector<float> y = round_trip(dtype, x);
    float error = 0.0f;
    for (std::size_t i = 0; i < x.size(); ++i) {
      error = (std::max)(error, std::fabs(x[i] - y[i]));
    }
    return error;
  };
  // Half a step, and the rounding of the f16 scale (2^-11 of up to 1, or 2 with an offset) on top.
  CHECK(worst(Dtype::q8_0) <= 0.5f / 127 + 0x1p-11f);
  CHECK(worst(Dtype::q4_1) <= 0.5f * 2 / 15 + 0x1p-10f);
  // Q4_0's range is -8 to 7 steps of 1/8: +1 is one whole step beyond its end.
  CHECK(worst(Dtype::q4_0) == 0.125f);
  CHECK(worst(Dtype::q8_0) > 0.0f);
}

TEST_CASE("halves of a step: away from zero in Q8_0, up in Q4_0 and Q4_1") {
  // The first number of each block makes the step 1.
  const auto encoded = [](Dtype dtype, std::vector<float> x) {
    x.resize(32, 0.0f);
    std::vector<float> y = round_trip(dtype, x);
    y.resize(6);
    return y;
  };
  using Floats = std::vector<float>;
  CHECK(encoded(Dtype::q8_0, {127, 0.5f, 1.5f, 2.5f, -0.5f, -2.5f}) ==
        Floats{127, 1, 2, 3, -1, -3});
  CHECK(encoded(Dtype::q4_0, {-8, 0.5f, 1.5f, 2.5f, -0.5f, -2.5f}) == Floats{-8, 1, 2, 3, 0, -2});
  CHECK(encoded(Dtype::q4_1, {15, 0.5f, 1.5f, 2.5f, 14.5f, 0}) == Floats{15, 1, 2, 3, 15, 0});
}

TEST_CASE("blocks of zeros are stored as such, and no NaN comes back") {
  const std::vector<float> zeros(96, 0.0f);
  std::byte stored[3 * 18];
  kernels::encode(Dtype::q4_0, zeros.data(), 96, stored);
  for (int b = 0; b < 3; ++b) {
    for (int i = 2; i < 18; ++i) CHECK(stored[b * 18 + i] == std::byte{0x88});
  }
  for (const Dtype dtype : {Dtype::q8_0, Dtype::q4_0, Dtype::q4_1, Dtype::f16, Dtype::bf16}) {
    CAPTURE(name(dtype));
    for (const float y : round_trip(dtype, zeros)) CHECK(y == 0.0f);
  }
}

TEST_CASE("the smallest subnormals, whose scale has no inverse, become zeros") {
  // 1e-44 / 127 is 0 or subnormal: its inverse overflows, and infinity x 0 would be NaN.
  const std::vector<float> tiny{1e-44f, -1e-44f, 3e-39f, 0.0f};
  std::vector<float> x(32);
  for (std::size_t i = 0; i < 32; ++i) x[i] = tiny[i % 4];
  for (const Dtype dtype : {Dtype::q8_0, Dtype::q4_0, Dtype::q4_1}) {
    for (const float y : round_trip(dtype, x)) CHECK(y == 0.0f);
  }
}

TEST_CASE("numbers that a block cannot hold are an error, and nothing is written") {
  for (const Dtype dtype : {Dtype::q8_0, Dtype::q4_0, Dtype::q4_1}) {
    for (const float bad : {infinity, -infinity, not_a_number, 3e38f, -9e6f}) {
      CAPTURE(name(dtype));
      CAPTURE(bad);
      for (const std::size_t at : {std::size_t{0}, std::size_t{40}, std::size_t{63}}) {
        std::vector<float> x(64, 1.0f);
        x[at] = bad;
        std::vector<std::byte> out(68, std::byte{0x5A});
        CHECK_THROWS_AS(kernels::encode(dtype, x.data(), 64, out.data()), NumericError);
        for (const std::byte b : out) CHECK(b == std::byte{0x5A});
      }
    }
  }
  std::vector<float> x(64, 0.0f);
  x[40] = infinity;
  std::byte out[68];
  CHECK_THROWS_WITH(kernels::encode(Dtype::q8_0, x.data(), 64, out),
                    "encode: a number from 32 to 63 is not finite or too large for Q8_0");
}

TEST_CASE("the largest magnitudes that are promised to fit do") {
  const auto check = [](Dtype dtype, float largest) {
    std::vector<float> x(32, -largest);
    x[5] = largest;
    x[6] = 0.0f;
    for (const float y : round_trip(dtype, x)) CHECK(std::isfinite(y));
  };
  check(Dtype::q8_0, 8.3e6f);
  check(Dtype::q4_0, 5.2e5f);
  check(Dtype::q4_1, 6.5e4f);
}

TEST_CASE("halves take every float") {
  const std::vector<float> y = round_trip(Dtype::f16, {1e6f, -infinity, not_a_number, 65504.0f});
  CHECK(y[0] == infinity);
  CHECK(y[1] == -infinity);
  CHECK(std::isnan(y[2]));
  CHECK(y[3] == 65504.0f);
  CHECK(std::isnan(round_trip(Dtype::bf16, {not_a_number})[0]));
  CHECK(round_trip(Dtype::f32, {1e-40f, 3.0f})[0] == 1e-40f);
}

TEST_CASE("formats without an encoder, and counts that are not whole blocks, are errors") {
  const std::vector<float> x(256, 1.0f);
  std::byte out[256];
  CHECK_THROWS_WITH_AS(kernels::encode(Dtype::q6_k, x.data(), 256, out),
                       "dtype = Q6_K: expected F32, F16, BF16, Q8_0, Q4_0 or Q4_1", ConfigError);
  CHECK_THROWS_AS(kernels::encode(Dtype::q4_0, x.data(), 31, out), ShapeError);
  CHECK_THROWS_AS(kernels::encode(Dtype(99), x.data(), 256, out), ConfigError);
}
