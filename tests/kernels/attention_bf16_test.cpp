// Attention in bf16 tiles: over emulated tiles on every machine, and over the processor's where it
// has AMX. Cases of the latter have "amx" in their names, and are small.
#include "imbrex/kernels/attention_bf16.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "imbrex/kernels/attention.hpp"
#include "tests/kernels/amx/emulated.hpp"
#include "tests/support/arithmetic.hpp"
#include "tests/support/attention_problem.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/instruction_sets.hpp"

using namespace imbrex;
using namespace imbrex::tests;
using kernels::AttentionArgs, kernels::Bf16Attention, kernels::Bf16Gemm;
using Problem = AttentionProblem;

namespace {

template <const Bf16Gemm& gemm, const Bf16Attention& attention>
void attend(const AttentionArgs& args) {
  if (args.q.rows > 0) kernels::attention_bf16(gemm, attention, args);
}

struct Kernel {
  const char* name;
  void (*attend)(const AttentionArgs& args);
};

std::vector<Kernel> emulated_kernels() {
  namespace portable = kernels::arch::emulated;
  std::vector<Kernel> all{{"portable", attend<portable::bf16_gemm, portable::bf16_attention>}};
#if defined(__x86_64__)
  if (has_bfloat_vectors()) {
    namespace avx512 = kernels::arch::emulated_avx512;
    all.push_back({"avx512", attend<avx512::bf16_gemm, avx512::bf16_attention>});
  }
#endif
  return all;
}

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// The largest |scale| sum |q_e key_e| of a query and a key that it sees.
double largest_score(Problem& p) {
  double largest = 0;
  for (index_t i = 0; i < p.queries; ++i) {
    const KeyRange seen = p.mask.visible(i, p.queries, p.keys);
    for (index_t h = 0; h < p.heads; ++h) {
      const float* q = &p.q[at((i * p.heads + h) * p.head_dim)];
      for (index_t j = seen.first; j < seen.last; ++j) {
        const index_t kv_head = h / (p.heads / p.kv_heads);
        const float* k = &p.k[at((j * p.kv_heads + kv_head) * p.head_dim)];
        double sum = 0;
        for (index_t e = 0; e < p.head_dim; ++e) sum += std::abs(double{q[e]} * double{k[e]});
        largest = (std::max)(largest, sum);
      }
    }
  }
  return largest * std::abs(double{p.scale});
}

/// What the docstring of attention_bf16 allows, for |values| <= 1; `rounded` operands are in bf16
/// already, so that only weights are rounded, by 2^-8 of themselves at most.
struct Allowed {
  double out, lse;
};
Allowed allowed(Problem& p, bool rounded) {
  const double a = largest_score(p), keys = static_cast<double>(p.keys);
  const double score = unit_roundoff * ((static_cast<double>(p.head_dim) + 4) * a +
                                        10 * std::abs(double{p.soft_cap}));
  const double e = (rounded ? 0 : (0x1p-7 + 0x1p-16) * a) + score;
  const double f = unit_roundoff * (2 * a + 8 + 2 * keys + 9 * keys / 32);
  return {e + (rounded ? 0x1p-8 : 0x1p-7 + 0x1p-16) + f, e + f};
}

/// Random operands in [-1, 1), rounded or not, against the reference in double.
void check(const Kernel& kernel, Problem p, bool round) {
  if (round) {
    for (std::vector<float>* numbers : {&p.q, &p.k, &p.v}) {
      for (float& x : *numbers) x = rounded<bf16>(x);
    }
  }
  Problem want = p;
  p.run(kernel.attend);
  want.run_reference();
  const Allowed bound = allowed(p, round);
  CAPTURE(kernel.name);
  CAPTURE(round);
  CAPTURE(p.queries);
  CAPTURE(p.keys);
  CAPTURE(p.heads);
  CAPTURE(p.kv_heads);
  CAPTURE(p.head_dim);
  CAPTURE(p.value_dim);
  CAPTURE(p.soft_cap);
  CAPTURE(static_cast<int>(p.mask.kind()));
  CHECK(worst_difference(p.out, want.out, bound.out) == "");
  CHECK(worst_difference(p.lse, want.lse, bound.lse) == "");
}
void check(const Kernel& kernel, const Problem& p) {
  check(kernel, p, true);
  check(kernel, p, false);
}

void check_sizes(const Kernel& kernel) {
  const index_t sizes[][2] = {{1, 1},   {15, 17}, {16, 16}, {17, 15}, {31, 33}, {32, 32},
                              {33, 31}, {64, 64}, {80, 80}, {96, 20}, {128, 1}};
  for (const auto& [d, n] : sizes) {
    for (const index_t queries : {1, 17, 40}) {
      Problem p(queries, 45, 2, 1, d, n);
      p.mask = Mask::causal();
      check(kernel, p);
    }
  }
}

/// Keys of a tile are 256, 192, 128 and fewer, rows of an item 512 to 64.
void check_long_heads(const Kernel& kernel) {
  const index_t sizes[][2] = {{128, 128}, {160, 30}, {30, 160},
                              {256, 256}, {515, 70}, {1024, 1024}};
  for (const auto& [d, n] : sizes) {
    Problem p(35, 265, 2, 1, d, n);
    p.mask = Mask::causal();
    check(kernel, p);
  }
}

void check_masks(const Kernel& kernel, const std::vector<index_t>& key_counts,
                 const std::vector<index_t>& query_counts) {
  for (const Mask mask :
       {Mask::none(), Mask::cross(), Mask::causal(), Mask::window(0), Mask::window(1),
        Mask::window(2), Mask::window(65), Mask::window(1000), Mask::prefix(0), Mask::prefix(70)}) {
    for (const index_t keys : key_counts) {
      for (const index_t queries : query_counts) {
        Problem p(queries, keys, 1, 1, 5);
        p.mask = mask;
        check(kernel, p);
        p.soft_cap = 0.5f;
        check(kernel, p);
      }
    }
  }
}

/// Values of key head h are h: results are h (1 + e) with |e| <= 2^-8, the weights' roundings.
void check_heads(const Kernel& kernel, const std::vector<index_t>& groups) {
  for (const index_t group : groups) {
    for (const index_t kv_heads : {1, 3}) {
      Problem p(19, 33, group * kv_heads, kv_heads, 16);
      p.mask = Mask::causal();
      check(kernel, p);
      for (index_t i = 0; i < 33 * kv_heads * 16; ++i) {
        p.v[at(i)] = static_cast<float>(i / 16 % kv_heads);
      }
      p.run(kernel.attend);
      for (index_t i = 0; i < 19 * p.heads * 16; ++i) {
        const float head = static_cast<float>(i / 16 % p.heads / group);
        CHECK(std::abs(p.out[at(i)] - head) <= head * 0x1.01p-8f);
      }
    }
  }
}

/// More rows than an item has, and than a tile of keys.
void check_many_rows(const Kernel& kernel) {
  Problem p(400, 530, 6, 2, 16);
  p.mask = Mask::causal();
  check(kernel, p, false);
  p.mask = Mask::window(40);
  check(kernel, p, true);
}

/// By hand, with q = 1, keys 0 and 1, and a scale of log 3, which nothing rounds to bf16: weights
/// 1/3 and 1, their sum 4/3. 1/3 in bf16 is 171/512. Values 4 and 8 (exact), so
/// (171/512 4 + 8) 3/4 = 7 + 1/512, and L = log 3 + log(4/3) = log 4.
void check_by_hand(const Kernel& kernel) {
  Problem p(20, 2, 1, 1, 1);
  std::fill(p.q.begin(), p.q.end(), 1.0f);
  p.k = {0, 1}, p.v = {4, 8};
  p.scale = 1.09861229f;
  p.run(kernel.attend);
  for (index_t i = 0; i < 20; ++i) {
    CHECK(std::abs(p.out[at(i)] - (7 + 1.0f / 512)) < 2e-6f);
    CHECK(std::abs(p.lse[at(i)] - 1.38629436f) < 1e-6f);
  }
  // Capped at 1, log 3 is tanh(log 3) = 0.8, and the weight e^-0.8 = 0.44932896, in bf16 115/256.
  p.soft_cap = 1;
  p.run(kernel.attend);
  const float weight = 115.0f / 256, total = 1.44932896f;
  CHECK(std::abs(p.out[7] - (weight * 4 + 8) / total) < 4e-6f);
  CHECK(std::abs(p.lse[7] - (0.8f + std::log(total))) < 1e-6f);
}

/// q = 0: every weight is 1, exactly; L is the logarithm of the number of keys, and results are
/// means: of the numbers 0, 1, 2 and on, half of the sum of the first and the last.
void check_counts(const Kernel& kernel) {
  for (const Mask mask : {Mask::causal(), Mask::window(50), Mask::prefix(40), Mask::none()}) {
    Problem p(70, 60, 2, 1, 3, 2);
    std::fill(p.q.begin(), p.q.end(), 0.0f);
    for (index_t i = 0; i < 120; ++i) p.v[at(i)] = static_cast<float>(i / 2);
    p.mask = mask;
    p.run(kernel.attend);
    for (index_t i = 0; i < 140; ++i) {
      const KeyRange seen = mask.visible(i / 2, 70, 60);
      const float count = static_cast<float>(seen.last - seen.first);
      const float mean = count == 0 ? 0 : static_cast<float>(seen.first + seen.last - 1) / 2;
      CHECK(std::abs(p.out[at(2 * i)] - mean) <= mean * 3e-7f);
      const float l = p.lse[at(i)];
      CHECK((count == 0 ? l == -infinity : std::abs(l - std::log(count)) < 1e-6f));
    }
  }
}

/// Rows alone and in chunks: the bits of all at once. With a window of 150 rows see keys on both
/// sides of key 256, where a tile begins, whatever the first key is that others see.
void check_company(const Kernel& kernel, index_t rows, const std::vector<index_t>& chunks) {
  for (const Mask mask : {Mask::causal(), Mask::window(20), Mask::window(150)}) {
    Problem all(rows, rows, 4, 2, 24);
    all.mask = mask;
    all.run(kernel.attend);
    for (const index_t chunk : chunks) {
      std::vector<float> out(all.out.size());
      for (index_t first = 0; first < rows; first += chunk) {
        const index_t count = lesser(chunk, rows - first);
        AttentionArgs args = all.args();
        args.q.data += first * args.q.row_stride;
        args.out.data = out.data() + first * args.out.row_stride;
        args.q.rows = args.out.rows = count;
        args.key_count = first + count;
        args.log_sum_exp = nullptr;
        kernel.attend(args);
      }
      CAPTURE(chunk);
      CHECK(different_bits(out, all.out) == "");
    }
  }
}

void check_threads(const Kernel& kernel) {
  Problem p(200, 500, 6, 3, 16);
  p.mask = Mask::causal();
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 8}) {
    set_threads(threads);
    std::fill(p.out.begin(), p.out.end(), not_a_number);
    p.run(kernel.attend);
    if (first.empty()) first = p.out;
    CHECK(different_bits(p.out, first) == "");
  }
  set_threads(0);
}

/// Values that bf16 has no finite number for: results of the rows that see them are what they would
/// be in f32 (3.4e38, the largest value, weighed), and all others have the bits they had.
void check_values(const Kernel& kernel) {
  for (const float bad : {not_a_number, infinity, -infinity, 3.4e38f}) {
    for (const index_t key : {0, 31, 250, 255, 256, 260}) {
      Problem p(300, 300, 2, 1, 8, 20);
      p.mask = Mask::window(9);
      const Problem clean = Problem(p).run(kernel.attend);
      p.v[at(key * 20 + 19)] = bad;
      const Problem want = Problem(p).run_reference();
      p.run(kernel.attend);
      index_t changed = 0, wrong = 0;
      for (index_t i = 0; i < 300 * 40; ++i) {
        const index_t query = i / 40;
        if (i % 20 == 19 && query >= key && query < key + 9) {
          const float x = p.out[at(i)], y = want.out[at(i)];
          wrong += std::isfinite(bad) ? !(std::abs(x - y) <= 0.05f * y)
                                      : (std::isnan(bad) ? !std::isnan(x) : x != bad);
        } else {
          changed += std::memcmp(&p.out[at(i)], &clean.out[at(i)], 4) != 0 ? 1 : 0;
        }
      }
      CAPTURE(kernel.name);
      CAPTURE(bad);
      CAPTURE(key);
      CHECK(wrong == 0);
      CHECK(changed == 0);
    }
  }
}

/// Keys that a mask hides have no part, whatever they are; a key that is none is seen in the rows
/// that see it; an infinite score of the wrong sign weighs nothing.
void check_keys(const Kernel& kernel) {
  Problem p(40, 40, 2, 1, 8);
  p.mask = Mask::window(3);
  const Problem clean = Problem(p).run(kernel.attend);
  std::fill_n(p.k.begin() + 20 * 8, 8, not_a_number);
  std::fill_n(p.v.begin() + 20 * 8, 8, not_a_number);
  p.run(kernel.attend);
  for (index_t i = 0; i < 40 * 16; ++i) {
    if (i / 16 >= 20 && i / 16 <= 22) {
      CHECK(std::isnan(p.out[at(i)]));
    } else {
      CHECK(p.out[at(i)] == clean.out[at(i)]);
    }
  }
  Problem low(17, 150, 1, 1, 1);
  low.scale = 1;
  std::fill(low.q.begin(), low.q.end(), 1.0f);
  std::fill(low.k.begin(), low.k.end(), -infinity);
  low.run(kernel.attend);
  for (const float x : low.out) CHECK(x == 0);
  for (const float l : low.lse) CHECK(l == -infinity);
  low.k[140] = 2;
  low.run(kernel.attend);
  for (const float x : low.out) CHECK(x == rounded<bf16>(low.v[140]));
  for (const float l : low.lse) CHECK(l == 2);
}

void check_extremes(const Kernel& kernel) {
  for (const float score : {-0x1p17f, -0x1p100f, 0x1p17f, 0x1p100f}) {
    Problem p(18, 100, 1, 1, 1);
    p.scale = 1;
    std::fill(p.q.begin(), p.q.end(), 1.0f);
    std::fill(p.k.begin(), p.k.end(), score);
    double mean = 0;
    for (const float x : p.v) mean += double{rounded<bf16>(x)} / 100;
    p.run(kernel.attend);
    for (const float x : p.out) CHECK(std::abs(double{x} - mean) < 100 * unit_roundoff);
    // Of 2^17 a float's last place is 2^-6; to 2^100 the logarithm of the number of keys adds
    // nothing.
    const float lse = static_cast<float>(double{score} + std::log(100.0));
    for (const float l : p.lse) CHECK(std::abs(l - lse) <= 0x1p-6f);
  }
  // A peak that grows from tile to tile, to that of the last four keys: 999, which is 1000 in bf16.
  // All values are 1, so results are, up to the roundings of weights.
  Problem p(20, 1000, 1, 1, 1);
  p.scale = 1;
  std::fill(p.q.begin(), p.q.end(), 1.0f);
  for (index_t j = 0; j < 1000; ++j) p.k[at(j)] = static_cast<float>(j / 4 * 4) + 3;
  std::fill(p.v.begin(), p.v.end(), 1.0f);
  p.run(kernel.attend);
  Problem want = p;
  for (float& k : want.k) k = rounded<bf16>(k);
  want.run_reference();
  for (const float x : p.out) CHECK(std::abs(x - 1) < 0x1p-8f);
  CHECK(worst_difference(p.lse, want.lse, 999 * 4 * unit_roundoff) == "");
  // And peaks in the first tile.
  std::reverse(p.k.begin(), p.k.end());
  p.run(kernel.attend);
  CHECK(worst_difference(p.lse, want.lse, 999 * 4 * unit_roundoff) == "");
}

void check_empty(const Kernel& kernel) {
  for (const index_t keys : {0, 3}) {
    Problem p(40, keys, 2, 1, 4);
    p.mask = Mask::causal();
    p.run(kernel.attend);
    for (index_t i = 0; i < 40 - keys; ++i) {
      for (index_t e = 0; e < 8; ++e) CHECK(p.out[at(i * 8 + e)] == 0);
      for (index_t h = 0; h < 2; ++h) CHECK(p.lse[at(i * 2 + h)] == -infinity);
    }
    for (const float x : p.out) CHECK(!std::isnan(x));
  }
  Problem none(0, 5, 2, 1, 4);
  none.run(kernel.attend);
  CHECK(none.out.empty());
}

/// Keys and values stored as T give the bits of their numbers as floats, from memory that ends at
/// pages that may not be read; so does q.
template <class T>
void check_stored(const Kernel& kernel) {
  for (const index_t d : {1, 15, 17, 32, 72}) {
    for (const index_t keys : {1, 31, 33, 270}) {
      Problem p(20, keys, 4, 2, d, d + 3);
      p.mask = Mask::causal();
      for (float& x : p.k) x = rounded<T>(x);
      for (float& x : p.v) x = rounded<T>(x);
      const Problem floats = Problem(p).run(kernel.attend);
      const Stored<float> q(p.q);
      const Stored<T> k(p.k), v(p.v);
      AttentionArgs args = p.args();
      args.q.data = q.data();
      args.keys = k.data();
      args.values = v.data();
      kernel.attend(args);
      CHECK(different_bits(p.out, floats.out) == "");
      CHECK(different_bits(p.lse, floats.lse) == "");
    }
  }
}

/// [K][Tk][d] keys and values, [H][Tq][d] queries and results, by a stride of their own.
void check_strides(const Kernel& kernel) {
  const index_t tq = 37, tk = 81, heads = 4, kv_heads = 2, d = 12;
  Problem p(tq, tk, heads, kv_heads, d);
  p.mask = Mask::causal();
  const Problem plain = Problem(p).run(kernel.attend);
  const auto swapped = [](const std::vector<float>& x, index_t rows, index_t columns) {
    std::vector<float> y(x.size());
    for (index_t i = 0; i < rows * columns * d; ++i) {
      y[at((i / d % columns * rows + i / d / columns) * d + i % d)] = x[at(i)];
    }
    return y;
  };
  p.q = swapped(p.q, tq, heads), p.k = swapped(p.k, tk, kv_heads), p.v = swapped(p.v, tk, kv_heads);
  AttentionArgs args = p.args();
  args.q.row_stride = args.out.row_stride = d;
  args.q.head_stride = args.out.head_stride = tq * d;
  args.k_key_stride = args.v_key_stride = d;
  args.k_head_stride = args.v_head_stride = tk * d;
  kernel.attend(args);
  CHECK(different_bits(p.out, swapped(plain.out, tq, heads)) == "");
  CHECK(different_bits(p.lse, plain.lse) == "");
}

void check_all_small(const Kernel& kernel) {
  check_by_hand(kernel);
  check_counts(kernel);
  check_keys(kernel);
  check_extremes(kernel);
  check_empty(kernel);
  check_strides(kernel);
  check_stored<float>(kernel);
  check_stored<f16>(kernel);
  check_stored<bf16>(kernel);
}

}  // namespace

TEST_CASE("attention_bf16, emulated: head sizes around whole tiles, and long ones") {
  for (const Kernel& kernel : emulated_kernels()) {
    check_sizes(kernel);
    check_long_heads(kernel);
  }
}

TEST_CASE("attention_bf16, emulated: every mask, around the edges of tiles") {
  for (const Kernel& kernel : emulated_kernels()) {
    check_masks(kernel, {0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 289}, {1, 16, 33, 131});
  }
}

TEST_CASE("attention_bf16, emulated: groups of heads, and more rows than an item has") {
  for (const Kernel& kernel : emulated_kernels()) {
    check_heads(kernel, {1, 2, 3, 4, 5, 6, 7, 8});
    check_many_rows(kernel);
  }
}

TEST_CASE("attention_bf16, emulated: by hand, extremes, layouts, stored numbers") {
  for (const Kernel& kernel : emulated_kernels()) {
    CAPTURE(kernel.name);
    check_all_small(kernel);
  }
}

TEST_CASE("attention_bf16, emulated: a row has the same bits in any company, on any threads") {
  for (const Kernel& kernel : emulated_kernels()) {
    CAPTURE(kernel.name);
    check_company(kernel, 300, {17, 64, 200});
    check_company(kernel, 70, {1, 7});
    check_threads(kernel);
  }
}

TEST_CASE("attention_bf16, emulated: values that bf16 has not reach the rows that see them") {
  for (const Kernel& kernel : emulated_kernels()) check_values(kernel);
}

TEST_CASE("attention_bf16: only amx has it") {
  for (const Isa isa : available_sets()) {
    CHECK((kernels::kernels_of(isa).bf16_attention.weigh != nullptr) == (isa == Isa::amx));
  }
}

// On sets without it the arithmetic changes no bit; nor does it for few queries, or heads or values
// that are too long.
TEST_CASE("amx attention: in tiles where it may round, heads are for it, and queries are many") {
  for (const Isa isa : available_sets()) {
    const WithSet set(isa);
    const index_t sizes[][3] = {{1, 8, 8},  {16, 8, 8},    {17, 8, 8},      {40, 8, 8},
                                {40, 8, 0}, {40, 1025, 8}, {20, 1024, 1024}};
    for (const auto& [queries, d, n] : sizes) {
      Problem p(queries, 50, 8, 1, d, n == 0 ? 1025 : n);
      p.mask = Mask::causal();
      const auto run = [&p](Arithmetic arithmetic) {
        const WithArithmetic use(arithmetic);
        return Problem(p).run().out;
      };
      std::vector<float> want = run(Arithmetic::f32);
#if defined(__x86_64__)
      if (isa == Isa::amx && queries > 16 && greater(d, p.value_dim) <= 1024) {
        namespace amx = kernels::arch::amx;
        want = Problem(p).run(attend<amx::bf16_gemm, amx::bf16_attention>).out;
        CHECK(different_bits(want, run(Arithmetic::f32)) != "");
      }
#endif
      CAPTURE(queries);
      CAPTURE(d);
      CHECK(different_bits(run(Arithmetic::int8), want) == "");
    }
  }
}

#if defined(__x86_64__)
TEST_CASE("amx attention_bf16: the same by the processor's tiles") {
  if (!available(Isa::amx)) return;
  namespace amx = kernels::arch::amx;
  const Kernel kernel{"amx", attend<amx::bf16_gemm, amx::bf16_attention>};
  check_sizes(kernel);
  check_long_heads(kernel);
  check_masks(kernel, {1, 31, 33, 257}, {17, 33});
  check_heads(kernel, {1, 3, 8});
  check_all_small(kernel);
  check_company(kernel, 150, {17, 64});
  check_threads(kernel);
  check_values(kernel);
}

// The processor's tiles against the emulated ones: the same vectors, so the same bits.
TEST_CASE("amx attention_bf16: the bits of emulated tiles") {
  if (!available(Isa::amx)) return;
  namespace amx = kernels::arch::amx;
  namespace avx512 = kernels::arch::emulated_avx512;
  Problem p(40, 300, 6, 2, 80);
  p.mask = Mask::causal();
  const Problem emulated = Problem(p).run(attend<avx512::bf16_gemm, avx512::bf16_attention>);
  p.run(attend<amx::bf16_gemm, amx::bf16_attention>);
  CHECK(different_bits(p.out, emulated.out) == "");
  CHECK(different_bits(p.lse, emulated.lse) == "");
}
#endif

TEST_CASE("attention_bf16, emulated: tiles are configured on every thread that uses them") {
  CHECK(kernels::arch::emulated::misuses == 0);
#if defined(__x86_64__)
  CHECK(kernels::arch::emulated_avx512::misuses == 0);
#endif
}
