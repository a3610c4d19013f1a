// What types and layers cost: the same work by a raw loop (A) and through the library (B), in one
// program, in turns A B, B A, A B, ... `ratio` is the median of B's time over A's, `q25` and
// `q75` the quartiles; it should be 1. `control` is A against A: how far from 1 this machine is by
// itself. Time is B's.
//
//     sum_3d     the sum over [8, 64, 512] integers, by three nested loops
//     row_wise   y[t, m] = x[t, m] w[m] + y[t, m] over [64, 576]
//     rms_norm   a layer against the kernel it calls, one row of 576
//     linear     the same, [576] to [192], one row
//     decoder    one token through two layers of SmolLM2's: all sizes static against all dynamic
//
// The first two take an element at a time, of a view or of a tensor.
#include <chrono>

#include "bench/harness.hpp"
#include "examples/random_model.hpp"
#include "imbrex/layers.hpp"
#include "imbrex/model/presets.hpp"

using namespace imbrex;

namespace {

template <class Run>
double seconds(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

/// The element at a share of a sorted row.
double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// Takes the two in turns. Each should take some ten microseconds, so that the clock's own time
/// does not count.
template <class A, class B>
void compare(benchmark::State& state, const A& raw, const B& ours) {
  std::vector<double> ratios;
  for ([[maybe_unused]] auto _ : state) {
    double a = 0, b = 0;
    if (ratios.size() % 2 == 0) a = seconds(raw);
    b = seconds(ours);
    if (a == 0) a = seconds(raw);
    ratios.push_back(b / a);
    state.SetIterationTime(b);
  }
  std::sort(ratios.begin(), ratios.end());
  state.counters["q25"] = quantile(ratios, 0.25);
  state.counters["ratio"] = quantile(ratios, 0.5);
  state.counters["q75"] = quantile(ratios, 0.75);
}

// --- The sum of three nested loops ---------------------------------------------------------------

constexpr index_t batch = 8, time_steps = 64, model = 512;

using Fixed = Tensor<int, Batch<batch>, Time<time_steps>, Model<model>>;
using Sized = Tensor<int, Batch<>, Time<>, Model<>>;

[[gnu::noinline]] int sum_raw(const int* x, index_t b, index_t t, index_t m) {
  int sum = 0;
  for (index_t i = 0; i < b; ++i) {
    for (index_t j = 0; j < t; ++j) {
      for (index_t k = 0; k < m; ++k) sum += x[(i * t + j) * m + k];
    }
  }
  return sum;
}

[[gnu::noinline]] int sum_raw_fixed(const int* x) {
  int sum = 0;
  for (index_t i = 0; i < batch; ++i) {
    for (index_t j = 0; j < time_steps; ++j) {
      for (index_t k = 0; k < model; ++k) sum += x[(i * time_steps + j) * model + k];
    }
  }
  return sum;
}

/// Of a tensor, or of a view.
template <class X>
[[gnu::noinline]] int sum_typed(const X& x) {
  int sum = 0;
  for (index_t i = 0; i < dim<Batch>(x); ++i) {
    for (index_t j = 0; j < dim<Time>(x); ++j) {
      for (index_t k = 0; k < dim<Model>(x); ++k) sum += x(i, j, k);
    }
  }
  return sum;
}

template <class Raw, class Typed>
void compare_sums(benchmark::State& state, const Raw& raw, const Typed& typed) {
  const int want = raw(), got = typed();
  if (got != want) {
    return bench::fail(state,
                       "the sum is " + std::to_string(got) + ", expected " + std::to_string(want));
  }
  compare(
      state, [&] { benchmark::DoNotOptimize(raw()); }, [&] { benchmark::DoNotOptimize(typed()); });
}

template <class X>
X filled(X x) {
  for (index_t i = 0; i < x.count(); ++i) x.data()[i] = static_cast<int>(i % 7);
  return x;
}

const Fixed& fixed() {
  static const Fixed x = filled(Fixed(Fixed::shape_type()));
  return x;
}

const Sized& sized() {
  static const Sized x = filled(Sized(Batch<>(batch), Time<>(time_steps), Model<>(model)));
  return x;
}

void sum_control(benchmark::State& state) {
  const auto raw = [] { return sum_raw(sized().data(), batch, time_steps, model); };
  compare_sums(state, raw, raw);
}

void sum_static(benchmark::State& state) {
  compare_sums(
      state, [] { return sum_raw_fixed(fixed().data()); }, [] { return sum_typed(fixed()); });
}

void sum_static_view(benchmark::State& state) {
  compare_sums(
      state, [] { return sum_raw_fixed(fixed().data()); },
      [] { return sum_typed(fixed().view()); });
}

void sum_dynamic(benchmark::State& state) {
  const Sized& x = sized();
  compare_sums(
      state, [&] { return sum_raw(x.data(), x.size(0), x.size(1), x.size(2)); },
      [&] { return sum_typed(x); });
}

void sum_dynamic_view(benchmark::State& state) {
  const Sized& x = sized();
  compare_sums(
      state, [&] { return sum_raw(x.data(), x.size(0), x.size(1), x.size(2)); },
      [&] { return sum_typed(x.view()); });
}

// --- An operation on rows ------------------------------------------------------------------------

constexpr index_t rows = 64, width = 576;

[[gnu::noinline]] void row_wise_raw(float* y, const float* x, const float* w, index_t t_count,
                                    index_t m_count) {
  for (index_t t = 0; t < t_count; ++t) {
    for (index_t m = 0; m < m_count; ++m) y[t * m_count + m] += x[t * m_count + m] * w[m];
  }
}

template <class Y, class X, class W>
[[gnu::noinline]] void row_wise_typed(Y& y, const X& x, const W& w) {
  for (index_t t = 0; t < dim<Time>(y); ++t) {
    for (index_t m = 0; m < dim<Model>(y); ++m) y(t, m) += x(t, m) * w(m);
  }
}

/// The operands, with axes static or dynamic.
template <class T, class M>
struct RowWise {
  RowWise() {
    const std::vector<float> numbers = tests::uniform(x.count(), 1);
    std::copy(numbers.begin(), numbers.end(), x.data());
    std::copy(numbers.begin(), numbers.begin() + width, w.data());
  }

  static Tensor<float, T, M> zero() {
    return Tensor<float, T, M>(make_axis<T>(rows), make_axis<M>(width));
  }

  Tensor<float, T, M> x = zero(), y = zero(), z = zero();
  Tensor<float, M> w{make_axis<M>(width)};
};

template <class Operands, class Typed>
void compare_row_wise(benchmark::State& state, Operands& o, const Typed& typed) {
  const auto raw = [&] { row_wise_raw(o.z.data(), o.x.data(), o.w.data(), rows, width); };
  raw(), typed();
  // Product and sum may be one rounding in one of them, and two in the other.
  const auto allowed = [](index_t) { return tests::unit_roundoff; };
  if (bench::right(state, o.y.data(), o.z.data(), o.y.count(), allowed)) compare(state, raw, typed);
}

template <class T, class M>
void row_wise(benchmark::State& state) {
  RowWise<T, M> o;
  compare_row_wise(state, o, [&] { row_wise_typed(o.y, o.x, o.w); });
}

template <class T, class M>
void row_wise_view(benchmark::State& state) {
  RowWise<T, M> o;
  const auto y = o.y.view();
  const auto x = o.x.view();
  const auto w = o.w.view();
  compare_row_wise(state, o, [&] { row_wise_typed(y, x, w); });
}

// --- A layer against its kernel ------------------------------------------------------------------

template <class Run>
auto many(int times, const Run& run) {
  return [=] {
    for (int i = 0; i < times; ++i) {
      run();
      benchmark::ClobberMemory();
    }
  };
}

Tensor<float, Time<>, Model<>> random_row(index_t count, Random& random) {
  Tensor<float, Time<>, Model<>> x(Time<>(1), Model<>(count));
  for (index_t i = 0; i < count; ++i) x.data()[i] = random.normal();
  return x;
}

template <class M>
void rms_norm(benchmark::State& state) {
  Random random(1);
  const auto values = random_row(width, random);
  const View<const float, Time<>, M> x(values.view());
  Tensor<float, Time<>, M> y(Time<>(1), make_axis<M>(width)), z = y;
  const RMSNorm<M> norm(full<float>(2, make_axis<M>(width)));
  const float* weight = norm.weight().data();
  const auto raw = [&] {
    kernels::rms_norm({z.data(), 1, width, width}, {x.data(), 1, width, width}, weight, 1e-5f);
  };
  const auto ours = [&] { norm.into(y, x); };
  raw(), ours();
  if (!bench::right(state, y.data(), z.data(), width, [](index_t) { return 0.0; })) return;
  compare(state, many(100, raw), many(100, ours));
}

template <class In, class Out>
void linear(benchmark::State& state) {
  constexpr index_t outputs = 192;
  Random random(1);
  const auto values = random_row(width, random);
  const View<const float, Time<>, In> x(values.view());
  Tensor<float, Time<>, Out> y(Time<>(1), make_axis<Out>(outputs)), z = y;
  const auto layer = random_linear<In, Out>(Shape<Out>(make_axis<Out>(outputs)),
                                            Shape<In>(make_axis<In>(width)), random);
  const auto& w = layer.weight();
  const auto raw = [&] {
    kernels::matmul({z.data(), 1, outputs, outputs}, {x.data(), 1, width, width},
                    {w.data(), w.dtype(), w.rows(), w.cols(), w.row_bytes()});
  };
  const auto ours = [&] { layer.into(y, x); };
  raw(), ours();
  if (!bench::right(state, y.data(), z.data(), outputs, [](index_t) { return 0.0; })) return;
  compare(state, many(5, raw), many(5, ours));
}

// --- A decoder of static sizes against one of dynamic sizes --------------------------------------

constexpr Config two_layers = [] {
  Config config = presets::smollm2_135m;
  config.dims.layers = 2;
  config.dims.vocab = 4096;
  return config;
}();

/// A decoder with what a token's pass needs.
template <class DecoderType>
struct Pass {
  explicit Pass(DecoderType d)
      : decoder(std::move(d)), workspace(decoder, 1), cache(decoder.config(), 1) {}

  const float* operator()() {
    cache.clear();
    return decoder.last_logits(workspace, cache, {&token, 1}).data();
  }

  DecoderType decoder;
  Workspace workspace;
  KvCache cache;
  token_t token = 17;
};

void decoder(benchmark::State& state) {
  const DecoderWeights weights = examples::random_weights(two_layers, Dtype::q8_0);
  Pass dynamic(Decoder<>(two_layers, weights));
  Pass fixed(Decoder<two_layers.dims>(two_layers, weights));
  const float* want = dynamic();
  if (!bench::right(state, fixed(), want, two_layers.dims.vocab, [](index_t) { return 0.0; })) {
    return;
  }
  compare(
      state, [&] { benchmark::DoNotOptimize(dynamic()); },
      [&] { benchmark::DoNotOptimize(fixed()); });
}

void add_comparison(const char* name, int turns, void (*run)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name, run)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(turns);
}

void add_all() {
  add_comparison("sum_3d/control", 501, sum_control);
  add_comparison("sum_3d/static/view", 501, sum_static_view);
  add_comparison("sum_3d/static/tensor", 501, sum_static);
  add_comparison("sum_3d/dynamic/view", 501, sum_dynamic_view);
  add_comparison("sum_3d/dynamic/tensor", 501, sum_dynamic);
  add_comparison("row_wise/static/view", 501, row_wise_view<Time<rows>, Model<width>>);
  add_comparison("row_wise/static/tensor", 501, row_wise<Time<rows>, Model<width>>);
  add_comparison("row_wise/dynamic/view", 501, row_wise_view<Time<>, Model<>>);
  add_comparison("row_wise/dynamic/tensor", 501, row_wise<Time<>, Model<>>);
  add_comparison("rms_norm/static", 501, rms_norm<Model<width>>);
  add_comparison("rms_norm/dynamic", 501, rms_norm<Model<>>);
  add_comparison("linear/static", 501, linear<Model<width>, Hidden<192>>);
  add_comparison("linear/dynamic", 501, linear<Model<>, Hidden<>>);
  add_comparison("decoder/static", 51, decoder);
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, add_all); }
