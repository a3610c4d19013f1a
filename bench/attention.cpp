// Attention, with the heads of three models (H query heads on K key heads of d floats):
//
//     smollm2 9/3 d = 64      tinyllama 32/4 d = 64      llama2 32/32 d = 128
//
// with the instruction set in use, and some of them with the others that the machine has.
//
// `prompt`: T causal queries on T keys: FLOP a second, 4 d for each head, query and key it sees.
// `decode`: one query on the keys of a cache, another cache each time (together more than the
// processor's caches hold), as each layer of a model has its own: bytes of keys and values a
// second.
#include <cmath>
#include <cstring>
#include <vector>

#include "bench/harness.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/kernels/attention.hpp"
#include "imbrex/kernels/reference/attention.hpp"
#include "imbrex/tensor/buffer.hpp"

using namespace imbrex;

namespace {

struct Model {
  const char* name;
  index_t heads, kv_heads, width;
};

constexpr Model models[] = {
    {"smollm2", 9, 3, 64}, {"tinyllama", 32, 4, 64}, {"llama2", 32, 32, 128}};

/// Floats in [-1, 1), a run of random ones over and over; its length is a prime.
Buffer<float> uniform(index_t count) {
  constexpr index_t period = 65521;
  const std::vector<float> some = tests::uniform(period, 1);
  Buffer<float> floats(count);
  for (index_t at = 0; at < count; at += period) {
    std::memcpy(floats.data() + at, some.data(),
                static_cast<std::size_t>(lesser(period, count - at)) * sizeof(float));
  }
  return floats;
}

/// Keys and values for all benchmarks of the program.
const float* cached(index_t floats) {
  static Buffer<float> memory;
  if (memory.size() < floats) memory = {};
  if (memory.size() < floats) memory = uniform(floats);
  return memory.data();
}

/// Queries of a model and their keys and values, each [K, Keys, d] as in a KvCache.
struct Operands {
  Operands(const Model& model, index_t queries, index_t keys)
      : q(uniform(queries * model.heads * model.width)), out(q.size()) {
    const index_t row = model.heads * model.width;
    args.out = {out.data(), queries, model.heads, model.width, row, model.width};
    args.q = {q.data(), queries, model.heads, model.width, row, model.width};
    args.kv_heads = model.kv_heads;
    args.key_count = keys;
    args.k_key_stride = args.v_key_stride = model.width;
    args.k_head_stride = args.v_head_stride = keys * model.width;
    args.scale = 1 / std::sqrt(static_cast<float>(model.width));
    args.mask = Mask::causal();
  }

  /// Floats of keys, and of values.
  index_t floats() const { return args.kv_heads * args.key_count * args.q.head_dim; }

  void use(const float* memory) {
    args.keys = memory;
    args.values = memory + floats();
  }

  Buffer<float> q, out;
  kernels::AttentionArgs args;
};

/// The part of the call with the queries [first, first + count) alone; they see what they saw.
kernels::AttentionArgs part(const kernels::AttentionArgs& whole, index_t first, index_t count) {
  kernels::AttentionArgs args = whole;
  args.q.data = whole.q.at(first, 0);
  args.q.rows = args.out.rows = count;
  args.key_count = whole.key_count - whole.q.rows + first + count;
  return args;
}

/// Whether `out` is attention, by the reference, for the first, some middle and the last queries.
/// The bound is that of the kernel's tests: values are at most 1, scores at most A = scale d; in
/// tiles queries, keys, values and weights are rounded to bf16.
bool right(benchmark::State& state, const kernels::AttentionArgs& args) {
  const double d = static_cast<double>(args.q.head_dim), a = static_cast<double>(args.scale) * d,
               keys = static_cast<double>(args.key_count);
  const bool rounded = kernels::uses_attention_bf16(kernels::active_kernels(), args);
  const double allowed = (2 * (2 * d + 4) * a + 8 + 2 * a + 2.3 * keys) * tests::unit_roundoff +
                         (rounded ? (0x1p-7 + 0x1p-16) * (a + 1) : 0);
  const index_t some = lesser(args.q.rows, 3), row = args.out.row_stride;
  for (const index_t first : {index_t{0}, (args.q.rows - some) / 2, args.q.rows - some}) {
    std::vector<float> want(static_cast<std::size_t>(some * row));
    kernels::AttentionArgs plain = part(args, first, some);
    plain.out.data = want.data();
    kernels::reference::attention(plain);
    if (!bench::right(state, args.out.at(first, 0), want.data(), some * row,
                      [=](index_t) { return allowed; })) {
      return false;
    }
  }
  return true;
}

/// Pairs of a query and a key it sees.
double pairs(const kernels::AttentionArgs& args) {
  double count = 0;
  for (index_t i = 0; i < args.q.rows; ++i) {
    const KeyRange range = args.mask.visible(i, args.q.rows, args.key_count);
    count += static_cast<double>(range.last - range.first);
  }
  return count;
}

void time_attention(benchmark::State& state, const Model& model, Isa isa, index_t queries,
                    index_t keys, index_t spread) {
  use_isa(isa);
  Operands operands(model, queries, keys);
  const index_t floats = 2 * operands.floats();
  const index_t caches = greater(1, spread / (floats * index_t{sizeof(float)}) + 1);
  const float* memory = cached(caches * floats);
  operands.use(memory);
  kernels::attention(operands.args);
  if (!right(state, operands.args)) return;
  index_t at = 0;
  for ([[maybe_unused]] auto _ : state) {
    at = at + 1 == caches ? 0 : at + 1;
    operands.use(memory + at * floats);
    kernels::attention(operands.args);
    benchmark::ClobberMemory();
  }
  bench::count(state, 4 * pairs(operands.args) * static_cast<double>(model.heads * model.width),
               static_cast<double>(floats) * sizeof(float));
}

void add(const std::string& kind, const Model& model, Isa isa, index_t queries, index_t keys) {
  const index_t spread = queries == 1 ? bench::cold_bytes() : 0;
  bench::add(
      kind + "/" + model.name + "/" + name(isa) + "/keys:" + std::to_string(keys),
      [=](benchmark::State& state) { time_attention(state, model, isa, queries, keys, spread); });
}

void add_all() {
  const Isa best = active_isa();
  for (const Model& model : models) {
    for (const index_t keys : {512, 4096}) add("decode", model, best, 1, keys);
  }
  for (const Model& model : models) {
    for (const index_t time : {128, 512, 4096}) add("prompt", model, best, time, time);
  }
  for (int i = 0; i < isa_count; ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!available(isa) || isa == best) continue;
    add("decode", models[0], isa, 1, 4096);
    add("prompt", models[0], isa, 512, 512);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
