#include "imbrex/kernels/attention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "imbrex/kernels/reference/attention.hpp"
#include "tests/support/attention_problem.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::AttentionArgs;
using Problem = AttentionProblem;

namespace {

/// Runs the kernel and the reference on random operands in [-1, 1) and compares.
///
/// A score is a sum of d products one after the other (two roundings each in a set without a fused
/// multiply-add), scaled and perhaps capped: its error is below (2 d + 4) u A with A = scale d >=
/// sum |q k| (capping has slope <= 1, and tanh 10 u of the result). An error e of the scores
/// changes a weight by the factor 1 + 2 e at most. Then the exponential (4 u) and its argument (2 A
/// u), and sums over keys, with two roundings per key, and with five and another exponential per
/// tile, of 32 keys or more. |values| < 1.
void check_against_reference(Problem p) {
  Problem want = p;
  p.run();
  want.run_reference();
  const double d = static_cast<double>(p.head_dim), a = static_cast<double>(p.scale) * d;
  const double score_error = (2 * d + 4) * a + 10 * static_cast<double>(p.soft_cap);
  const double keys = static_cast<double>(p.keys);
  const double allowed = unit_roundoff * (2 * score_error + 8 + 2 * a + 2 * keys + 9 * keys / 32);
  CAPTURE(p.queries);
  CAPTURE(p.keys);
  CAPTURE(p.heads);
  CAPTURE(p.kv_heads);
  CAPTURE(p.head_dim);
  CAPTURE(p.value_dim);
  CAPTURE(static_cast<int>(p.mask.kind()));
  CHECK(worst_difference(p.out, want.out, allowed) == "");
  CHECK(worst_difference(p.lse, want.lse, allowed + unit_roundoff * (a + std::log(keys + 1))) ==
        "");
}

/// Runs a test on every instruction set that the machine has.
template <class Test>
void on_every_set(const Test& test) {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    CAPTURE(std::string(name(isa)));
    test();
  }
}

// By hand: one query 1, keys 0 and log 3, so weights 1/4 and 3/4; values 4 and 8: 1 + 6 = 7, and
// L = log(1 + 3).
constexpr float log_3 = 1.09861229f;
struct HandResult {
  float out = 0, lse = 0;
};
constexpr HandResult hand_worked(float cap, Mask mask) {
  const float q = 1, keys[] = {0, log_3}, values[] = {4, 8};
  HandResult r;
  kernels::reference::attention({.out = {&r.out, 1, 1, 1, 1, 1},
                                 .q = {&q, 1, 1, 1, 1, 1},
                                 .keys = keys,
                                 .values = values,
                                 .kv_heads = 1,
                                 .key_count = 2,
                                 .k_key_stride = 1,
                                 .v_key_stride = 1,
                                 .mask = mask,
                                 .soft_cap = cap,
                                 .log_sum_exp = &r.lse});
  return r;
}
constexpr bool close(float a, float b) { return a - b < 1e-6f && b - a < 1e-6f; }
static_assert(close(hand_worked(0, Mask::causal()).out, 7));
static_assert(close(hand_worked(0, Mask::causal()).lse, 1.38629436f));
static_assert(close(hand_worked(0, Mask::window(1)).out, 8));
static_assert(close(hand_worked(0, Mask::window(1)).lse, log_3));
static_assert(hand_worked(0, Mask::window(0)).out == 0);
// A cap of 1 turns log 3 into tanh(log 3) = (9 - 1) / (9 + 1) = 0.8: 4 + 4 / (1 + e^-0.8).
static_assert(close(hand_worked(1, Mask::none()).out, 6.75989793f));

}  // namespace

TEST_CASE("attention: the example by hand") {
  on_every_set([&] {
    Problem p(1, 2, 1, 1, 1);
    p.q = {1}, p.k = {0, log_3}, p.v = {4, 8};
    p.run();
    CHECK(std::abs(p.out[0] - 7) < 1e-6f);
    CHECK(std::abs(p.lse[0] - 1.38629436f) < 1e-6f);
    p.soft_cap = 1;
    CHECK(std::abs(p.run().out[0] - 6.75989793f) < 1e-6f);
  });
}

TEST_CASE("attention agrees with the reference: head sizes 1 to 33 and beyond 256") {
  on_every_set([&] {
    for (index_t d = 1; d <= 33; ++d) {
      Problem p(7, 9, 4, 2, d, 34 - d);
      p.mask = Mask::causal();
      check_against_reference(p);
    }
    for (const index_t d : {64, 80, 96, 128, 256, 257, 300, 515}) {
      for (const index_t queries : {3, 40}) {
        Problem p(queries, 290, 3, 1, d, d == 96 ? 300 : 0);
        p.mask = Mask::causal();
        check_against_reference(p);
      }
    }
  });
}

TEST_CASE("attention agrees with the reference: every mask, around the edges of tiles") {
  on_every_set([&] {
    for (const Mask mask : {Mask::none(), Mask::cross(), Mask::causal(), Mask::window(1),
                            Mask::window(2), Mask::window(65), Mask::window(1000), Mask::prefix(0),
                            Mask::prefix(70), Mask::prefix(1000)}) {
      for (const index_t keys : {0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 289}) {
        for (const index_t queries : {1, 7, 8, 65, 131}) {
          Problem p(queries, keys, 2, 1, 5);
          p.mask = mask;
          check_against_reference(p);
          p.soft_cap = 0.5f;
          check_against_reference(p);
        }
      }
    }
  });
}

TEST_CASE("attention: query heads read the right key head") {
  on_every_set([&] {
    const index_t sizes[][2] = {{9, 3},   {15, 5}, {28, 4}, {14, 2},
                                {32, 32}, {8, 1},  {48, 2}, {71, 1}};
    for (const auto& [heads, kv_heads] : sizes) {
      Problem p(3, 70, heads, kv_heads, 4);
      for (std::size_t i = 0; i < p.v.size(); ++i) {
        p.v[i] = static_cast<float>(static_cast<index_t>(i) / 4 % kv_heads);
      }
      p.run();
      for (std::size_t i = 0; i < p.out.size(); ++i) {
        const index_t head = static_cast<index_t>(i) / 4 % heads;
        CHECK(std::abs(p.out[i] - static_cast<float>(head / (heads / kv_heads))) < 1e-4f);
      }
      check_against_reference(p);
    }
  });
}

TEST_CASE("attention: with equal scores, the log-sum-exp counts the visible keys") {
  on_every_set([&] {
    // q = 0: every score is 0 and L = log(number of keys).
    const auto counted = [](index_t queries, index_t keys, Mask mask) {
      Problem p(queries, keys, 1, 1, 3);
      std::fill(p.q.begin(), p.q.end(), 0.0f);
      p.mask = mask;
      std::vector<index_t> counts;
      for (const float l : p.run().lse) counts.push_back(std::llround(std::exp(l)));
      return counts;
    };
    using Counts = std::vector<index_t>;
    CHECK(counted(4, 4, Mask::causal()) == Counts{1, 2, 3, 4});
    CHECK(counted(4, 4, Mask::window(2)) == Counts{1, 2, 2, 2});  // min(i + 1, W)
    CHECK(counted(4, 4, Mask::window(1)) == Counts{1, 1, 1, 1});
    CHECK(counted(4, 4, Mask::window(4)) == Counts{1, 2, 3, 4});
    CHECK(counted(2, 5, Mask::causal()) == Counts{4, 5});  // the last query faces the last key
    CHECK(counted(2, 5, Mask::window(3)) == Counts{3, 3});
    CHECK(counted(4, 2, Mask::causal()) == Counts{0, 0, 1, 2});
    CHECK(counted(4, 4, Mask::prefix(3)) == Counts{3, 3, 3, 4});
    CHECK(counted(2, 300, Mask::cross()) == Counts{300, 300});
  });
}

// Products of nothing are 0: the weights are equal, the sums means, and L = log(number of keys).
TEST_CASE("attention: heads of no numbers weigh all keys alike") {
  on_every_set([&] {
    for (const index_t keys : {1, 4, 300}) {
      Problem p(2, keys, 2, 1, 0, 5);
      p.scale = 1;
      for (std::size_t i = 0; i < p.v.size(); ++i) p.v[i] = static_cast<float>(i / 5);
      p.run();
      for (const float o : p.out) {
        CHECK(std::abs(o - static_cast<float>(keys - 1) / 2) < 1e-6f * static_cast<float>(keys));
      }
      for (const float l : p.lse) CHECK(std::abs(l - std::log(static_cast<float>(keys))) < 1e-5f);
    }
  });
}

TEST_CASE("attention: rows that see no key are zeros, and their log-sum-exp is -inf") {
  on_every_set([&] {
    for (const index_t keys : {0, 3}) {
      Problem p(5, keys, 2, 1, 4);
      p.mask = Mask::causal();
      p.run();
      for (index_t i = 0; i < 5 - keys; ++i) {
        for (index_t e = 0; e < 8; ++e) CHECK(p.out[static_cast<std::size_t>(i * 8 + e)] == 0);
        for (index_t h = 0; h < 2; ++h)
          CHECK(p.lse[static_cast<std::size_t>(i * 2 + h)] == -infinity);
      }
      for (const float x : p.out) CHECK(!std::isnan(x));
    }
  });
}

TEST_CASE("attention: a window whose first tiles are all masked") {  // pytorch#127055
  on_every_set([&] {
    Problem p(640, 640, 1, 1, 8);
    p.mask = Mask::window(10);
    check_against_reference(p);
  });
}

TEST_CASE("attention: sums beyond the range of a half are no infinity") {
  on_every_set([&] {
    // Equal scores: the mean of 200 values of 60000, whose sum is 183 times what a half can hold;
    // and scores of 300 * 300 * 8, beyond it themselves.
    Problem p(2, 200, 1, 1, 8);
    std::fill(p.q.begin(), p.q.end(), 300.0f);
    std::fill(p.k.begin(), p.k.end(), 300.0f);
    std::fill(p.v.begin(), p.v.end(), 60000.0f);
    p.scale = 1;
    p.run();
    for (const float x : p.out) CHECK(std::abs(x - 60000.0f) < 60000.0f * 200 * 1e-7f);
  });
}

TEST_CASE("attention: finite scores count, however low or high they are") {
  on_every_set([&] {
    for (const float score : {-1e5f, -1e30f, 1e5f, 1e30f}) {
      Problem p(2, 100, 1, 1, 1);
      p.scale = 1;
      std::fill(p.q.begin(), p.q.end(), 1.0f);
      std::fill(p.k.begin(), p.k.end(), score);
      float mean = 0;
      for (const float x : p.v) mean += x / 100;
      p.run();
      CHECK(std::abs(p.out[0] - mean) < 1e-5f);
      CHECK(std::abs(p.out[1] - mean) < 1e-5f);
      CHECK(p.lse[0] == doctest::Approx(score).epsilon(1e-4));
    }
  });
}

TEST_CASE("attention: scores of -inf weigh nothing, and NaN is not hidden") {
  on_every_set([&] {
    Problem p(1, 150, 1, 1, 1);
    p.scale = 1;
    p.q = {1};
    std::fill(p.k.begin(), p.k.end(), -infinity);
    p.run();
    CHECK(p.out[0] == 0);
    CHECK(p.lse[0] == -infinity);
    p.k[140] = 2;
    p.run();
    CHECK(p.out[0] == p.v[140]);
    CHECK(p.lse[0] == 2);
    for (const std::size_t at : {std::size_t{0}, std::size_t{70}, std::size_t{149}}) {
      for (const float other : {-infinity, 0.5f}) {
        Problem bad = p;
        std::fill(bad.k.begin(), bad.k.end(), other);
        bad.k[at] = not_a_number;
        bad.run();
        CHECK(std::isnan(bad.out[0]));
        CHECK(std::isnan(bad.lse[0]));
      }
    }
  });
}

TEST_CASE("attention: the cap comes before the mask") {
  on_every_set([&] {
    // Scores of 100 capped at 50: 48.2013790. Were masked keys capped too, they would count.
    Problem p(2, 2, 1, 1, 1);
    p.q = {10, 10}, p.k = {10, 10}, p.v = {1, 1000};
    p.scale = 1;
    p.soft_cap = 50;
    p.mask = Mask::causal();
    p.run();
    CHECK(p.out[0] == 1);
    CHECK(std::abs(p.lse[0] - 48.2013790f) < 1e-5f);
    CHECK(p.out[1] == doctest::Approx(500.5));
  });
}

TEST_CASE("attention: what a mask hides is not read") {
  on_every_set([&] {
    Problem p(40, 40, 2, 1, 8);
    p.mask = Mask::window(3);
    const Problem clean = Problem(p).run();
    // NaN in key 20 and its value: only queries 20, 21 and 22 look.
    std::fill_n(p.k.begin() + 20 * 8, 8, not_a_number);
    std::fill_n(p.v.begin() + 20 * 8, 8, not_a_number);
    p.run();
    for (index_t i = 0; i < 40 * 16; ++i) {
      const std::size_t at = static_cast<std::size_t>(i);
      if (i / 16 >= 20 && i / 16 <= 22) {
        CHECK(std::isnan(p.out[at]));
      } else {
        CHECK(p.out[at] == clean.out[at]);
      }
    }
  });
}

TEST_CASE("attention: a row has the same bits alone, in chunks and all at once") {
  on_every_set([&] {
    for (const Mask mask : {Mask::causal(), Mask::window(70), Mask::window(300)}) {
      Problem all(600, 600, 6, 2, 24);
      all.mask = mask;
      all.run();
      for (const index_t chunk : {1, 2, 4, 7, 64, 300}) {
        std::vector<float> out(all.out.size());
        for (index_t first = 0; first < 600; first += chunk) {
          const index_t rows = lesser(chunk, 600 - first);
          AttentionArgs args = all.args();
          args.q.data += first * args.q.row_stride;
          args.out.data = out.data() + first * args.out.row_stride;
          args.q.rows = args.out.rows = rows;
          args.key_count = first + rows;
          args.log_sum_exp = nullptr;
          kernels::attention(args);
        }
        CHECK(different_bits(out, all.out) == "");
      }
    }
  });
}

TEST_CASE("attention: layouts with other strides") {
  on_every_set([&] {
    // Keys and values as [K][Tk][d], a cache per head; queries and out as [H][Tq][d].
    const index_t tq = 37, tk = 81, heads = 4, kv_heads = 2, d = 12;
    Problem p(tq, tk, heads, kv_heads, d);
    p.mask = Mask::causal();
    const Problem plain = Problem(p).run();
    const auto swapped = [](const std::vector<float>& x, index_t rows, index_t columns, index_t n) {
      std::vector<float> y(x.size());
      for (index_t i = 0; i < rows * columns * n; ++i) {
        const index_t row = i / (columns * n), column = i / n % columns;
        y[static_cast<std::size_t>((column * rows + row) * n + i % n)] =
            x[static_cast<std::size_t>(i)];
      }
      return y;
    };
    p.q = swapped(p.q, tq, heads, d);
    p.k = swapped(p.k, tk, kv_heads, d);
    p.v = swapped(p.v, tk, kv_heads, d);
    AttentionArgs args = p.args();
    args.q.row_stride = args.out.row_stride = d;
    args.q.head_stride = args.out.head_stride = tq * d;
    args.k_key_stride = args.v_key_stride = d;
    args.k_head_stride = args.v_head_stride = tk * d;
    kernels::attention(args);
    CHECK(different_bits(p.out, swapped(plain.out, tq, heads, d)) == "");
    CHECK(different_bits(p.lse, plain.lse) == "");
  });
}

TEST_CASE("attention: the same bits for any number of threads") {
  on_every_set([&] {
    for (const index_t queries : {1, 3, 200}) {
      // With 3 key heads, then one, of which threads share the keys.
      Problem p(queries, 3000, queries == 3 ? 2 : 6, queries == 3 ? 1 : 3, 16);
      p.mask = Mask::causal();
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 8}) {
        set_threads(threads);
        std::fill(p.out.begin(), p.out.end(), not_a_number);
        p.run();
        if (first.empty()) first = p.out;
        CHECK(different_bits(p.out, first) == "");
      }
      set_threads(0);
    }
  });
}

TEST_CASE("attention: no queries") {
  on_every_set([&] {
    Problem p(0, 5, 2, 1, 4);
    p.run();
    CHECK(p.out.empty());
  });
}

TEST_CASE("attention: hidden values that are no numbers reach no row") {
  on_every_set([&] {
    // Around the edge of a tile, with rows that see them and rows that do not in one block.
    for (const float bad : {not_a_number, infinity, -infinity}) {
      for (const index_t key : {0, 250, 255, 256, 260}) {
        Problem p(300, 300, 2, 1, 8, 20);
        p.mask = Mask::window(9);
        const Problem clean = Problem(p).run();
        p.v[static_cast<std::size_t>(key * 20 + 19)] = bad;
        p.run();
        for (index_t i = 0; i < 300 * 40; ++i) {
          const std::size_t at = static_cast<std::size_t>(i);
          const index_t query = i / 40;
          if (i % 20 == 19 && query >= key && query < key + 9) {
            CHECK(!std::isfinite(p.out[at]));
          } else {
            CHECK(p.out[at] == clean.out[at]);
          }
        }
      }
    }
  });
}

namespace {

/// Keys and values stored as T give what their numbers give as floats.
template <class T>
void check_stored() {
  for (const index_t queries : {1, 5, 60}) {
    for (const index_t d : {1, 3, 8, 17, 64, 72, 80}) {
      for (const index_t keys : {1, 5, 31, 33, 300}) {
        Problem p(queries, keys, 4, 2, d, d + queries);
        p.mask = Mask::causal();
        for (float& x : p.k) x = rounded<T>(x);
        for (float& x : p.v) x = rounded<T>(x);
        const Stored<float> q(p.q);
        const Stored<T> k(p.k), v(p.v);
        check_against_reference(p);
        const Problem floats = Problem(p).run();
        AttentionArgs args = p.args();
        args.q.data = q.data();
        args.keys = k.data();
        args.values = v.data();
        kernels::attention(args);
        CHECK(different_bits(p.out, floats.out) == "");
        CHECK(different_bits(p.lse, floats.lse) == "");
        kernels::reference::attention(args);
        Problem want = floats;
        want.run_reference();
        CHECK(different_bits(p.out, want.out) == "");
      }
    }
  }
}

}  // namespace

TEST_CASE("attention: keys and values in 16 bits give the bits of their numbers in 32") {
  on_every_set([&] {
    check_stored<float>();
    check_stored<f16>();
    check_stored<bf16>();
  });
}

TEST_CASE("attention: weights are e^x to 2^-22, 1 for 0 and 0 for -inf, and a NaN stays one") {
  on_every_set([&] {
    const kernels::Attention& kernel = kernels::active_kernels().attention;
    std::vector<float> row(kernels::attention_stride);
    const index_t count = 256;
    for (int start = 0; start < 330; ++start) {  // from 0 to -85, in steps of 0.001
      float peak = 0, total = 0;
      const KeyRange all{0, count};
      for (index_t i = 0; i < count; ++i) {
        row[static_cast<std::size_t>(i)] =
            i == 0 ? 0.0f : -0.001f * static_cast<float>(start * 257 + i);
      }
      const std::vector<float> x = row;
      kernel.weigh({row.data(), &all, 1, 0, count, 1, 0, &peak, &total});
      CHECK(peak == 0);
      CHECK(row[0] == 1);
      double sum = 0;
      const auto exact = [&](index_t i) {
        return std::exp(double{x[static_cast<std::size_t>(i)]});
      };
      std::vector<float> want(row);
      for (index_t i = 0; i < count; ++i) {
        want[static_cast<std::size_t>(i)] = static_cast<float>(exact(i));
        sum += exact(i);
      }
      CHECK(worst_difference(row.data(), want.data(), count, [&](index_t i) {
              return 0x1p-22 * exact(i) + 0x1p-25 * exact(i);
            }) == "");
      CHECK(total == doctest::Approx(sum).epsilon(70 * unit_roundoff));  // 64 additions
    }
    const KeyRange seen{3, 37};
    std::fill(row.begin(), row.end(), 5.0f);
    row[4] = -infinity, row[5] = not_a_number, row[6] = -1e30f, row[7] = 10;
    std::uint32_t payload = 0x7FC00001u;  // a NaN with the lowest bit set
    std::memcpy(&row[8], &payload, sizeof(float));
    float peak = 0, total = 0;
    kernel.weigh({row.data(), &seen, 1, 0, 64, 1, 0, &peak, &total});
    CHECK(peak == 10);
    CHECK(std::isnan(total));
    CHECK(row[4] == 0);
    CHECK(std::isnan(row[5]));
    CHECK(row[6] == 0);
    CHECK(row[7] == 1);
    CHECK(std::isnan(row[8]));
    CHECK(row[9] == doctest::Approx(std::exp(-5.0)));
    for (const int hidden : {0, 2, 37, 63}) CHECK(row[static_cast<std::size_t>(hidden)] == 0);
  });
}

#if defined(__x86_64__) && !defined(__FMA__)
// (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24, which a product rounded before the sum loses.
TEST_CASE("attention: the bits say whether the set asked for is the one that ran") {
  on_every_set([&] {
    for (const index_t queries : {1, 40}) {
      Problem p(queries, 50, 1, 1, 2);
      for (std::size_t i = 0; i < p.q.size(); i += 2) p.q[i] = 1, p.q[i + 1] = 1 + 0x1p-12f;
      for (std::size_t i = 0; i < p.k.size(); i += 2) {
        p.k[i] = -1 - 0x1p-11f, p.k[i + 1] = 1 + 0x1p-12f;
      }
      p.scale = 0x1p24f;  // scores of 1, or of 0: L = 1 + log 50, or log 50
      p.run();
      const float score = active_isa() == Isa::scalar ? 0.0f : 1.0f;
      for (const float l : p.lse) CHECK(l == doctest::Approx(score + std::log(50.0f)));
    }
  });
}
#endif
