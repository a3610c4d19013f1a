#include "imbrex/layers/rope_frequencies.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "imbrex/layers/rope.hpp"
#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

void check_close(float got, double want) {
  CHECK(static_cast<double>(got) == doctest::Approx(want).epsilon(2e-7));
}

}  // namespace

TEST_CASE("rope frequencies: theta^(-2i/n)") {
  const auto f = rope_frequencies(10000, 8);  // 10^0, 10^-1, 10^-2, 10^-3
  REQUIRE(f.size() == 4);
  const double want[] = {1, 0.1, 0.01, 0.001};
  for (std::size_t i = 0; i < 4; ++i) check_close(f[i], want[i]);
  CHECK(rope_frequencies(10000, 0).empty());
}

TEST_CASE("rope frequencies: linear scaling divides all of them") {
  const auto f = rope_frequencies(10000, 8, {.kind = RopeScalingKind::linear, .factor = 4});
  const double want[] = {0.25, 0.025, 0.0025, 0.00025};
  for (std::size_t i = 0; i < 4; ++i) check_close(f[i], want[i]);
}

TEST_CASE("rope frequencies: llama3, as Llama 3.2 1B has it") {
  const auto plain = rope_frequencies(5e5, 64);
  const auto f = rope_frequencies(5e5, 64,
                                  {.kind = RopeScalingKind::llama3,
                                   .factor = 32,
                                   .low_freq_factor = 1,
                                   .high_freq_factor = 4,
                                   .original_context = 8192});
  for (std::size_t i = 0; i < 32; ++i) {
    CAPTURE(i);
    if (i <= 14) CHECK(f[i] == plain[i]);
    if (i >= 15 && i <= 17) CHECK((f[i] < 0.99f * plain[i] && f[i] > plain[i] / 31.0f));
    if (i >= 18) CHECK(f[i] == plain[i] / 32);
  }
  check_close(f[1], 0.663601238);
  check_close(f[15], 0.00129054793);
  check_close(f[17], 9.7082878e-05);
  check_close(f[18], 1.94616382e-05);
  check_close(f[31], 9.41830673e-08);
}

TEST_CASE("rope frequencies: YaRN, four times the context of Qwen") {
  const RopeScaling scaling{.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 32768};
  const auto plain = rope_frequencies(1e6, 128), f = rope_frequencies(1e6, 128, scaling);
  // The ramp goes from pair 23 to pair 40.
  for (std::size_t i = 0; i < 64; ++i) {
    CAPTURE(i);
    if (i <= 23) CHECK(f[i] == plain[i]);
    if (i > 23 && i < 40) CHECK((f[i] < plain[i] && f[i] > plain[i] / 4));
    if (i >= 40) CHECK(f[i] == plain[i] / 4);
  }
  check_close(f[16], 0.031622777);
  check_close(f[24], 0.0053753215);
  check_close(f[63], 3.1023444e-07);
}

TEST_CASE("rope magnitude: YaRN's temperature, which an explicit value replaces") {
  RopeScaling yarn{.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 4096};
  check_close(rope_magnitude(yarn), 1.1386294);
  yarn.factor = 32;
  check_close(rope_magnitude(yarn), 1.3465736);
  yarn.factor = 64;
  yarn.attention_factor = 1;
  CHECK(rope_magnitude(yarn) == 1);
  yarn.attention_factor = 1.5;
  CHECK(rope_magnitude(yarn) == 1.5f);
  CHECK(rope_magnitude({.kind = RopeScalingKind::yarn, .factor = 1}) == 1);
  CHECK(rope_magnitude({.kind = RopeScalingKind::linear, .factor = 8}) == 1);
  CHECK(rope_magnitude({}) == 1);
}

TEST_CASE("rope frequencies: pairs need an even number of elements") {
  CHECK(error_of<ConfigError>([] { rope_frequencies(10000, 7); }) ==
        "rotary_dims = 7: expected an even number");
  CHECK(error_of<ConfigError>([] { rope_frequencies(10000, -2); }) ==
        "rotary_dims = -2: expected an even number");
}

TEST_CASE("rope_frequencies: a theta and a factor that are none") {
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(rope_frequencies(wrong, 4), ConfigError);
    CHECK_THROWS_AS(rope_frequencies(10000, 4, {.kind = RopeScalingKind::linear, .factor = wrong}),
                    ConfigError);
  }
}

TEST_CASE("rope: scaling and pairs that there are not") {
  CHECK(error_of<ConfigError>([] { rope_frequencies(10000, 4, {.kind = RopeScalingKind(4)}); }) ==
        "scaling.kind = 4: expected 0 to 3");
  CHECK(error_of<ConfigError>([] { Rope<HeadDim<>>({1.0f}, RopePairs(2)); }) ==
        "rope.pairs = 2: expected 0 or 1");
}

// Angles of an infinite frequency are infinite or, at position 0, NaN, and so are sines and
// cosines: every logit would be NaN, without a word of why.
TEST_CASE("rope: frequencies that are not finite are refused") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(error_of<ConfigError>([&] { Rope<HeadDim<>>({1.0f, infinity}); }) ==
        "rope frequency 1 = inf: expected a finite number");
  CHECK(error_of<ConfigError>([&] { Rope<HeadDim<>>({1.0f}, RopePairs::half, infinity); }) ==
        "rope magnitude = inf: expected a finite number");
  // theta^(-2/4) / factor = 10^15 / 10^-25
  CHECK(error_of<ConfigError>([] {
          Rope<HeadDim<>>{
              rope_frequencies(1e-30, 4, {.kind = RopeScalingKind::linear, .factor = 1e-25})};
        }) == "rope frequency 1 = inf: expected a finite number");
  // With theta = 1 all pairs turn alike, and YaRN's ramp has no place for its ends.
  const RopeScaling yarn{.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 4096};
  CHECK_THROWS_AS(Rope<HeadDim<>>{rope_frequencies(1, 4, yarn)}, ConfigError);
}
