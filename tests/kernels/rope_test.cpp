#include "imbrex/kernels/rope.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/kernels/reference/rope.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::Heads;

namespace {

/// theta^(-2i/d), as in the paper.
std::vector<float> frequencies(index_t rotary_dims, double theta = 10000) {
  std::vector<float> f;
  for (index_t i = 0; i < rotary_dims / 2; ++i) {
    f.push_back(static_cast<float>(
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dims))));
  }
  return f;
}

/// One head at one position.
std::vector<float> turned(std::vector<float> x, index_t position, const std::vector<float>& f,
                          RopePairs pairs, float magnitude = 1) {
  const index_t d = static_cast<index_t>(x.size());
  kernels::rope({x.data(), 1, 1, d, d, d}, &position, f.data(), 2 * static_cast<index_t>(f.size()),
                pairs, magnitude);
  return x;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

/// Rows of one head of Wq or Wk, from the half layout to the interleaved one: row s d/2 + i becomes
/// row 2i + s (transformers' and llama.cpp's conversion of Llama weights).
std::vector<float> permuted(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size() / 2; ++i) {
    y[2 * i] = x[i];
    y[2 * i + 1] = x[x.size() / 2 + i];
  }
  return y;
}

}  // namespace

TEST_CASE("rope: quarter turns and one radian") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    const float quarter = 1.57079633f;  // pi / 2 in float: the cosine is -4e-8
    CHECK(worst_difference(turned({1, 2, 3, 4}, 1, {quarter, 0}, RopePairs::interleaved),
                           {-2, 1, 3, 4}, 2e-7) == "");
    CHECK(worst_difference(turned({1, 2, 3, 4}, 1, {quarter, 0}, RopePairs::half), {-3, 2, 1, 4},
                           2e-7) == "");
    CHECK(worst_difference(turned({1, 0}, 1, {1}, RopePairs::half), {0.540302306f, 0.841470985f},
                           1e-7) == "");
    CHECK(worst_difference(turned({1, 0}, -1, {1}, RopePairs::half), {0.540302306f, -0.841470985f},
                           1e-7) == "");
    CHECK(turned({1, 2, 3, 4}, 0, {quarter, 1}, RopePairs::half) == std::vector<float>{1, 2, 3, 4});
    CHECK(turned({1, 2}, 0, {1}, RopePairs::half, 1.5f) == std::vector<float>{1.5f, 3});
  }
}

TEST_CASE("rope: angles far along are exact") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    // cos and sin of 10^6 radians to 30 digits: 0.936752127533144..., -0.349993502171292...
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
      CHECK(worst_difference(turned({1, 0}, 1000000, {1}, pairs), {0.936752128f, -0.349993502f},
                             6e-8) == "");
      // Bfloat16 would take position 257 for 256.
      const std::vector<float> at_257 = turned({1, 0}, 257, {1}, pairs);
      CHECK(std::abs(at_257[0] - 0.819305529f) < 1e-6f);
    }
  }
}

// A number of 1 beside a 0 turns to the cosine and the sine: what is left is their rounding.
TEST_CASE("rope: cosines and sines of positions of any size, to the rounding of a float") {
  const std::vector<float> f = {1, 0.75f, 1.0f / 3, 1e-3f, 1e-7f};
  std::vector<index_t> positions = {0, 1, 2, 3, 4, 5, 6, 7, 11, 22, 44, 355, 710, 103993, 833719};
  for (int i = 0; i < 40; ++i) {  // around 2^24, whence the library's functions are taken
    const index_t power = index_t{1} << i;
    positions.insert(positions.end(), {power - 1, power, power + 1, -power});
  }
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
      for (const index_t position : positions) {
        CAPTURE(position);
        std::vector<float> x;
        for (std::size_t i = 0; i < 2 * f.size(); ++i) {
          const bool first = pairs == RopePairs::half ? i < f.size() : i % 2 == 0;
          x.push_back(first ? 1.0f : 0.0f);
        }
        const std::vector<float> y = turned(x, position, f, pairs);
        for (std::size_t i = 0; i < f.size(); ++i) {
          const double angle = static_cast<double>(position) * static_cast<double>(f[i]);
          const bool half = pairs == RopePairs::half;
          const float c = y[half ? i : 2 * i], s = y[half ? i + f.size() : 2 * i + 1];
          CHECK(std::abs(static_cast<double>(c) - std::cos(angle)) <= 0x1.0001p-25);
          CHECK(std::abs(static_cast<double>(s) - std::sin(angle)) <= 0x1.0001p-25);
        }
      }
    }
  }
}

TEST_CASE("rope: components that do not rotate, and gaps between heads, stay") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    const index_t rows = 3, heads = 2, head_dim = 11, head_stride = 13, row_stride = 29;
    const index_t positions[] = {5, 0, 70000};
    const std::vector<float> x = uniform(rows * row_stride, 1);
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
      for (index_t rotary = 0; rotary <= 10; rotary += 2) {
        const std::vector<float> f = frequencies(rotary);
        std::vector<float> got = x, want = x;
        kernels::rope({got.data(), rows, heads, head_dim, row_stride, head_stride}, positions,
                      f.data(), rotary, pairs);
        kernels::reference::rope({want.data(), rows, heads, head_dim, row_stride, head_stride},
                                 positions, f.data(), rotary, pairs);
        CHECK(worst_difference(got, want, 4 * unit_roundoff * 2) == "");
        for (index_t i = 0; i < rows * row_stride; ++i) {
          const index_t in_row = i % row_stride, in_head = in_row % head_stride;
          const bool rotates = in_row < heads * head_stride && in_head < rotary;
          if (!rotates) CHECK(got[static_cast<std::size_t>(i)] == x[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

TEST_CASE("rope agrees with the reference on every set, at every even size, and wide heads") {
  std::vector<index_t> sizes;
  for (index_t d = 0; d <= 66; d += 2) sizes.push_back(d);
  sizes.insert(sizes.end(), {126, 128, 130, 256, 514});
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
      for (const index_t size : sizes) {
        CAPTURE(size);
        const index_t rows = 4, positions[] = {0, 1, 511, 131071};
        const std::vector<float> f = frequencies(size, 500000);
        std::vector<float> want = uniform(rows * 3 * size, 2);
        const GuardedFloats got(want), frequency(f);
        kernels::rope({got.data(), rows, 3, size, 3 * size, size}, positions, frequency.data(),
                      size, pairs, 1.25f);
        kernels::reference::rope({want.data(), rows, 3, size, 3 * size, size}, positions, f.data(),
                                 size, pairs, 1.25f);
        CHECK(worst_difference(got.values(), want, 4 * unit_roundoff * 2.5) == "");
      }
    }
  }
}

// The layouts differ in where the numbers of a pair lie alone.
TEST_CASE("rope: both layouts have the same bits") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    for (index_t d = 2; d <= 70; d += 2) {
      const std::vector<float> f = frequencies(d), x = uniform(d, 3);
      CHECK(different_bits(permuted(turned(x, 77, f, RopePairs::half)),
                           turned(permuted(x), 77, f, RopePairs::interleaved)) == "");
    }
  }
}

TEST_CASE("rope: half, or interleaved on permuted weights; not one without the other") {
  const index_t d = 64;
  const std::vector<float> f = frequencies(d), q = uniform(d, 3), k = uniform(d, 4);
  for (const index_t m : {0, 1, 17, 4095}) {
    for (const index_t n : {0, 1, 2, 4000}) {
      const double half = dot(turned(q, m, f, RopePairs::half), turned(k, n, f, RopePairs::half));
      const double interleaved = dot(turned(permuted(q), m, f, RopePairs::interleaved),
                                     turned(permuted(k), n, f, RopePairs::interleaved));
      CHECK(std::abs(half - interleaved) < 1e-6);
      if (m == n) continue;  // then rotations of any kind cancel
      const double unpermuted =
          dot(turned(q, m, f, RopePairs::interleaved), turned(k, n, f, RopePairs::interleaved));
      const double wrong_pairs = dot(turned(permuted(q), m, f, RopePairs::half),
                                     turned(permuted(k), n, f, RopePairs::half));
      CHECK(std::abs(half - unpermuted) > 1e-3);
      CHECK(std::abs(half - wrong_pairs) > 1e-3);
    }
  }
}

TEST_CASE("rope: a score depends on the distance alone") {  // the paper's equation 11
  const index_t d = 32;
  const std::vector<float> f = frequencies(d), q = uniform(d, 5), k = uniform(d, 6);
  for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
    const double near_start = dot(turned(q, 9, f, pairs), turned(k, 2, f, pairs));
    const double later = dot(turned(q, 1007, f, pairs), turned(k, 1000, f, pairs));
    CHECK(std::abs(near_start - later) < 3e-5);  // a frequency's last bit, times 1000
  }
}

TEST_CASE("rope: the same bits for any number of threads") {
  const index_t rows = 200, heads = 3, d = 64;
  std::vector<index_t> positions;
  for (index_t i = 0; i < rows; ++i) positions.push_back(7 * i);
  const std::vector<float> f = frequencies(d), x = uniform(rows * heads * d, 7);
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 8}) {
    set_threads(threads);
    std::vector<float> y = x;
    kernels::rope({y.data(), rows, heads, d, heads * d, d}, positions.data(), f.data(), d,
                  RopePairs::half);
    if (first.empty()) first = y;
    CHECK(different_bits(y, first) == "");
  }
  set_threads(0);
}
