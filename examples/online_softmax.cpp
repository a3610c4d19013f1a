// The softmax of attention computed tile by tile: what is remembered between tiles, that the result
// is the plain one, and how much memory each way takes beside its operands.
//
//   online_softmax           T = 512, 2048, 8192
//   online_softmax 100 300   other numbers of tokens
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/kernels/attention.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/scale.hpp"
#include "imbrex/kernels/softmax.hpp"
#include "painted_stack.hpp"
#include "table.hpp"
#include "token_counts.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: online_softmax [T]...\n"
    "\n"
    "Shows the online softmax on six scores, then attention over T tokens (512, 2048 and 8192,\n"
    "one head of 64) with T x T scores and by the library's tiles: difference and memory.\n";

std::size_t heap_bytes = 0;  // asked for since the start

}  // namespace

// Every allocation of C++ comes by here.
[[gnu::noinline]] void* operator new(std::size_t size) {
  heap_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  std::fprintf(stderr, "online_softmax: no memory for %zu bytes\n", size);
  std::exit(1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// --- Six scores in three tiles -------------------------------------------------------------------

void show_tiles() {
  constexpr int keys = 6, tile = 2;
  constexpr double score[keys] = {1, 3, 2, 5, 4, 0}, value[keys] = {1, 2, 3, 4, 5, 6};
  std::printf(
      "One query, six keys, tiles of two. m is the largest score so far, l the sum of\n"
      "e^(s - m), o the sum of e^(s - m) v; a new m multiplies the old l and o by e^(m_old - "
      "m).\n\n"
      "%-4s  %-6s  %-6s  %4s  %12s  %8s  %8s  %8s\n",
      "tile", "scores", "values", "m", "e^(m_old-m)", "l", "o", "o / l");
  double m = -INFINITY, l = 0, o = 0;
  for (int first = 0; first < keys; first += tile) {
    const double m_old = m;
    m = std::max({m, score[first], score[first + 1]});
    const double correction = std::exp(m_old - m);  // 0 for the first tile
    l *= correction;
    o *= correction;
    for (int j = first; j < first + tile; ++j) {
      l += std::exp(score[j] - m);
      o += std::exp(score[j] - m) * value[j];
    }
    std::printf("%-4d  %2g  %2g  %2g  %2g  %4g  %12.6f  %8.6f  %8.6f  %8.6f\n", first / tile + 1,
                score[first], score[first + 1], value[first], value[first + 1], m, correction, l, o,
                o / l);
  }
  double total = 0, sum = 0;
  for (int j = 0; j < keys; ++j) {
    total += std::exp(score[j] - 5);
    sum += std::exp(score[j] - 5) * value[j];
  }
  std::printf("%-24s  %4d  %12s  %8.6f  %8.6f  %8.6f\n\n", "plain, all at once", 5, "", total, sum,
              sum / total);
}

// --- Attention over T tokens ---------------------------------------------------------------------

constexpr index_t d = 64;

struct Operands {
  index_t tokens;
  std::vector<float> q, k, v, v_transposed;

  explicit Operands(index_t t) : tokens(t) {
    Random random(1);
    for (std::vector<float>* x : {&q, &k, &v, &v_transposed}) {
      x->resize(static_cast<std::size_t>(t * d));
      for (float& number : *x) number = random.normal();
    }
    for (index_t i = 0; i < t * d; ++i) {
      v_transposed[static_cast<std::size_t>(i % d * t + i / d)] = v[static_cast<std::size_t>(i)];
    }
  }
};

const float scale = 1 / std::sqrt(static_cast<float>(d));

kernels::Matrix matrix(const std::vector<float>& x, index_t rows, index_t columns) {
  return {reinterpret_cast<const std::byte*>(x.data()), Dtype::f32, rows, columns, 4 * columns};
}

/// softmax(q k^T / sqrt(d) + causal mask) v, with all the scores in memory.
void plain(const Operands& x, float* out) {
  const index_t t = x.tokens;
  std::vector<float> scores(static_cast<std::size_t>(t * t));
  const kernels::Rows rows{scores.data(), t, t, t};
  kernels::matmul(rows, {x.q.data(), t, d, d}, matrix(x.k, t, d));
  kernels::scale(rows, rows, scale);
  for (index_t i = 0; i < t; ++i) {
    kernels::softmax({rows.row(i), 1, i + 1, t}, {rows.row(i), 1, i + 1, t});
    std::fill(rows.row(i) + i + 1, rows.row(i) + t, 0.0f);
  }
  kernels::matmul({out, t, d, d}, rows, matrix(x.v_transposed, d, t));
}

/// The same by the library's kernel.
void tiles(const Operands& x, float* out) {
  kernels::attention({.out = {out, x.tokens, 1, d, d, d},
                      .q = {x.q.data(), x.tokens, 1, d, d, d},
                      .keys = x.k.data(),
                      .values = x.v.data(),
                      .kv_heads = 1,
                      .key_count = x.tokens,
                      .k_key_stride = d,
                      .v_key_stride = d,
                      .scale = scale,
                      .mask = Mask::causal()});
}

template <class Run>
std::size_t heap_of(const Run& run) {
  const std::size_t before = heap_bytes;
  run();
  return heap_bytes - before;
}

void compare(index_t tokens, examples::Table& table) {
  const Operands x(tokens);
  std::vector<float> one(static_cast<std::size_t>(tokens * d)), other = one;
  const auto run_plain = [&] { plain(x, one.data()); };
  const auto run_tiles = [&] { tiles(x, other.data()); };
  const std::size_t plain_heap = heap_of(run_plain), tiles_heap = heap_of(run_tiles);
  const std::size_t stack = examples::stack_bytes(run_tiles) - examples::stack_bytes([] {});
  double difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference = std::fmax(difference, std::fabs(static_cast<double>(one[i] - other[i])));
  }
  // Its digits depend on the order of sums, so on the width of the machine's vectors.
  char text[16];
  std::snprintf(text, sizeof text, difference < 1e-5 ? "below 1e-5" : "%.1e", difference);
  const auto bytes = [](std::size_t n) { return examples::grouped(static_cast<index_t>(n)); };
  // So does the stack, by some pages.
  constexpr std::size_t most_stack = 320 * 1024;
  table.add({std::to_string(tokens), examples::grouped(tokens * tokens * 4), bytes(plain_heap),
             bytes(tiles_heap), stack <= most_stack ? "below 327,680" : bytes(stack), text});
}

bool run(int argc, char** argv) {
  const std::vector<index_t> sizes = examples::token_counts(argc, argv, {512, 2048, 8192});
  if (sizes.empty()) return false;
  show_tiles();
  set_threads(1);  // so that all work, and all stack, is the painted thread's
  std::printf("Attention over T tokens, causal, one head of %d: bytes beside the operands.\n\n",
              static_cast<int>(d));
  examples::Table table("r");
  table.add({"T", "T x T floats", "plain: heap", "tiles: heap", "tiles: stack", "difference"});
  for (const index_t t : sizes) compare(t, table);
  table.print();
  std::printf(
      "\nKeys of a tile, packed, and the values, scores and queries at work are on the stack.\n");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("online_softmax", usage, argc, argv, run);
}
