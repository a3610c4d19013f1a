#include "imbrex/layers/rope.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using HeadsOf = Tensor<float, Time<>, Heads<>, HeadDim<>>;

Tensor<index_t, Time<>> positions_of(std::initializer_list<index_t> positions) {
  const Time<> time(static_cast<index_t>(positions.size()));
  return {Shape<Time<>>(time), positions};
}

/// x turned, every row at `position`.
HeadsOf turned(const Rope<HeadDim<>>& rope, HeadsOf x, index_t position) {
  Tensor<index_t, Time<>> positions{Time<>(x.size(0))};
  for (index_t t = 0; t < x.size(0); ++t) positions(t) = position;
  rope.turn(x, positions);
  return x;
}

HeadsOf one_head(std::initializer_list<float> values) {
  const HeadDim<> width(static_cast<index_t>(values.size()));
  return {Shape<Time<>, Heads<>, HeadDim<>>(Time<>(1), Heads<>(1), width), values};
}

double dot(const float* a, const float* b, index_t n) {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

TEST_CASE("rope by hand: both layouts, and the magnitude") {
  // Frequencies 1 and 1/2 at position 2: cos 2 = -0.416146837, sin 2 = 0.909297427,
  // cos 1 = 0.540302306, sin 1 = 0.841470985. (1, 0) becomes (cos, sin), (0, 1) (-sin, cos).
  const auto check = [](RopePairs pairs, const HeadsOf& x, std::initializer_list<double> want,
                        float magnitude = 1) {
    const auto y = turned(Rope<HeadDim<>>({1, 0.5f}, pairs, magnitude), x, 2);
    const double* w = want.begin();
    for (index_t i = 0; i < 4; ++i) {
      CHECK(std::abs(static_cast<double>(y(0, 0, i)) - w[i]) < 2 * unit_roundoff * 2);
    }
  };
  check(RopePairs::interleaved, one_head({1, 0, 0, 1}),
        {-0.416146837, 0.909297427, -0.841470985, 0.540302306});
  check(RopePairs::half, one_head({1, 0, 0, 1}),
        {-0.416146837, -0.841470985, 0.909297427, 0.540302306});
  check(RopePairs::half, one_head({1, 0, 0, 1}),
        {-0.832293674, -1.68294197, 1.81859485, 1.08060461}, 2);
}

TEST_CASE("rope: the inner product depends on n - m only") {
  Random random(1);
  constexpr index_t width = 64;
  const Rope<HeadDim<>> rope(rope_frequencies(10000, width));
  const auto q = normal(random, Time<>(1), Heads<>(1), HeadDim<>(width));
  const auto k = normal(random, Time<>(1), Heads<>(1), HeadDim<>(width));
  // An element of a pair is two products of roundings of cos, sin and x, and a sum: 3 u of the
  // pair's length, for q and k each; and the double sum is exact beside that.
  const double lengths = std::sqrt(dot(q.data(), q.data(), width) * dot(k.data(), k.data(), width));
  const double allowed = 2 * 3 * 1.5 * unit_roundoff * lengths;
  for (const index_t apart : {0, 1, 2, 7, 100, 4095}) {
    const auto turned_k = turned(rope, k, apart);
    const double want = dot(q.data(), turned_k.data(), width);
    for (const index_t m : {1, 2, 3, 10, 257, 1000, 100000, 1048575}) {
      const auto a = turned(rope, q, m), b = turned(rope, k, m + apart);
      CAPTURE(m);
      CAPTURE(apart);
      CHECK(std::abs(dot(a.data(), b.data(), width) - want) <= allowed);
    }
  }
  // And it does depend on that.
  const auto near_k = turned(rope, k, 1), far_k = turned(rope, k, 2);
  CHECK(std::abs(dot(q.data(), near_k.data(), width) - dot(q.data(), far_k.data(), width)) > 0.01);
}

TEST_CASE("rope: positions that bf16 or float angles would confuse are told apart") {
  // In bf16 position 257 is 256; in float the angle 16777217 is 16777216.
  const Rope<HeadDim<>> rope({1});
  for (const index_t position : {257, 16777217}) {
    const auto y = turned(rope, one_head({1, 0}), position);
    CHECK(std::abs(static_cast<double>(y(0, 0, 0)) - std::cos(static_cast<double>(position))) <
          unit_roundoff);
  }
}

TEST_CASE("rope: the elements past the rotating ones stay, and strides are obeyed") {
  Random random(2);
  const Rope<HeadDim<>> rope(rope_frequencies(10000, 4), RopePairs::half);
  auto wide = normal(random, Time<>(5), Heads<>(6), HeadDim<>(11));
  const auto before = wide;
  // Rows, heads and elements 1 to 3, 2 to 4 and 3 to 10 of the whole.
  const auto part = slice<HeadDim>(slice<Heads>(slice<Time>(wide, 1, 3), 2, 3), 3, 8);
  auto packed = HeadsOf(part.shape());
  for (index_t i = 0; i < packed.count(); ++i)
    packed.data()[i] = elements(part)[static_cast<std::size_t>(i)];
  const auto positions = positions_of({4, 9, 2});
  rope.turn(part, positions);
  rope.turn(packed, positions);
  CHECK(different_bits(elements(part), elements(packed)) == "");
  for (index_t t = 0; t < 5; ++t) {
    for (index_t h = 0; h < 6; ++h) {
      for (index_t e = 0; e < 11; ++e) {
        const bool turns = t >= 1 && t < 4 && h >= 2 && h < 5 && e >= 3 && e < 7;
        if (turns) CHECK(wide(t, h, e) != before(t, h, e));
        if (!turns) CHECK(wide(t, h, e) == before(t, h, e));
      }
    }
  }
}

namespace {

// Weights whose rows are permuted between the two layouts: row h d + s d/2 + i of the half-split
// one (s = 0, 1) is row h d + 2 i + s of the interleaved one. `heads` decides what a head is.
std::vector<float> interleave(const std::vector<float>& half, index_t heads, index_t inputs) {
  std::vector<float> result(half.size());
  const index_t width = static_cast<index_t>(half.size()) / inputs / heads;
  for (index_t h = 0; h < heads; ++h) {
    for (index_t s = 0; s < 2; ++s) {
      for (index_t i = 0; i < width / 2; ++i) {
        for (index_t j = 0; j < inputs; ++j) {
          result[static_cast<std::size_t>((h * width + 2 * i + s) * inputs + j)] =
              half[static_cast<std::size_t>((h * width + s * width / 2 + i) * inputs + j)];
        }
      }
    }
  }
  return result;
}

struct Projection {
  std::vector<float> weight, bias;  // [rows, 6], [rows]

  HeadsOf operator()(const Tensor<float, Time<>, Model<>>& x, index_t heads) const {
    const index_t width = static_cast<index_t>(bias.size()) / heads;
    Tensor<float, Heads<>, HeadDim<>, Model<>> w(Heads<>(heads), HeadDim<>(width), Model<>(6));
    Tensor<float, Heads<>, HeadDim<>> b{Heads<>(heads), HeadDim<>(width)};
    for (std::size_t i = 0; i < weight.size(); ++i) w.data()[i] = weight[i];
    for (std::size_t i = 0; i < bias.size(); ++i) b.data()[i] = bias[i];
    return Linear<Model<>, Axes<Heads<>, HeadDim<>>>(
        Weight<Axes<Heads<>, HeadDim<>>, Axes<Model<>>>(std::move(w)), b)(x);
  }
};

/// q.k of every query head with its key head (4 and 2 of 8), for all pairs of three positions.
std::vector<float> scores(const Projection& q, const Projection& k, RopePairs pairs) {
  Random random(3);
  const auto x = normal(random, Time<>(3), Model<>(6));
  HeadsOf qs = q(x, 4), ks = k(x, 2);
  const Rope<HeadDim<>> rope(rope_frequencies(10000, 8), pairs);
  const auto positions = positions_of({0, 5, 1000});
  rope.turn(qs, positions);
  rope.turn(ks, positions);
  std::vector<float> result;
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) {
      for (index_t h = 0; h < 4; ++h) {
        result.push_back(static_cast<float>(dot(&qs(i, h, 0), &ks(j, h / 2, 0), 8)));
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("rope: half-split weights are interleaved ones with permuted rows and biases") {
  const Projection q{uniform(32 * 6, 4), uniform(32, 5)}, k{uniform(16 * 6, 6), uniform(16, 7)};
  const Projection permuted_q{interleave(q.weight, 4, 6), interleave(q.bias, 4, 1)};
  const Projection permuted_k{interleave(k.weight, 2, 6), interleave(k.bias, 2, 1)};
  const auto want = scores(q, k, RopePairs::half);
  // The terms are the same in another order; scores are about 10, their rounding 1e-6.
  CHECK(worst_difference(scores(permuted_q, permuted_k, RopePairs::interleaved), want, 1e-5) == "");

  const auto differs = [&](const Projection& a, const Projection& b, RopePairs pairs) {
    return worst_difference(scores(a, b, pairs), want, 0.1) != "";
  };
  CHECK(differs(q, k, RopePairs::interleaved));             // only the layout changed
  CHECK(differs(permuted_q, permuted_k, RopePairs::half));  // only the weights
  CHECK(differs(permuted_q, k, RopePairs::interleaved));    // only q
  const Projection by_query_heads{interleave(k.weight, 4, 6), interleave(k.bias, 4, 1)};
  CHECK(differs(permuted_q, by_query_heads, RopePairs::interleaved));  // k cut into q's heads
  const Projection plain_bias{permuted_q.weight, q.bias};
  CHECK(differs(plain_bias, permuted_k, RopePairs::interleaved));  // the bias forgotten
}

TEST_CASE("rope: run-time shapes") {
  CHECK(error_of([] { Rope<HeadDim<4>>({1, 1, 1}); }) ==
        "rope: the head must have room for all rotating elements: [HeadDim=4, rotating=6]");
  const Rope<HeadDim<>> rope({1, 1, 1});
  auto x = zeros<float>(Time<>(2), Heads<>(1), HeadDim<>(4));
  CHECK(error_of([&] { rope.turn(x, positions_of({0, 1})); }) ==
        "rope: the head must have room for all rotating elements: [HeadDim=4, rotating=6]");
  auto y = zeros<float>(Time<>(2), Heads<>(1), HeadDim<>(6));
  CHECK(error_of([&] { rope.turn(y, positions_of({0})); }) ==
        "rope.turn(x, positions): there must be one position for each row of x: "
        "x[Time=2, Heads=1, HeadDim=6], positions[Time=1]");
}

TEST_CASE("rope: heads and rows of any strides; elements and positions next to each other") {
  Random random(4);
  const Rope<HeadDim<>> rope(rope_frequencies(10000, 6));
  const auto positions = positions_of({3, 1, 4});
  auto by_head = normal(random, Heads<>(2), Time<>(3), HeadDim<>(6));
  const auto by_row = permute<Time, Heads, HeadDim>(by_head);
  HeadsOf packed(by_row.shape());
  for (index_t i = 0; i < packed.count(); ++i) {
    packed.data()[i] = by_row(i / 12, i / 6 % 2, i % 6);
  }
  rope.turn(by_row, positions);
  rope.turn(packed, positions);
  CHECK(different_bits(elements(by_row), elements(packed)) == "");

  auto wrong = normal(random, Time<>(3), HeadDim<>(6), Heads<>(2));
  const auto before = wrong;
  CHECK(error_of([&] { rope.turn(transpose(wrong), positions); }) ==
        "the elements along the last axis must lie next to each other: "
        "x[Time=3, Heads=2, HeadDim=6], strides[Time=12, Heads=1, HeadDim=2]");
  const Tensor<index_t, Time<>, Keys<>> pairs(Shape<Time<>, Keys<>>(Time<>(3), Keys<>(2)),
                                              {3, 0, 1, 0, 4, 0});
  const index_t two = 2;
  const View<const index_t, Time<>> apart(pairs.data(), Shape<Time<>>(Time<>(3)), &two);
  CHECK(error_of([&] { rope.turn(packed, apart); }) ==
        "positions must lie next to each other: positions[Time=3], strides[Time=2]");
  CHECK(elements(wrong) == elements(before));
  CHECK(elements(by_row) == elements(packed));
  CHECK(error_of([&] { Rope<HeadDim<8>>({1}).turn(packed, positions); }) ==
        "axis HeadDim: expected size 8, got 6");
}
