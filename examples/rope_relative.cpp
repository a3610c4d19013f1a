// RoPE turns a query at position m and a key at position n so that their inner product depends on
// n - m alone; and what longer contexts make of its frequencies.
//
//   rope_relative [--svg FILE]
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/layers/rope.hpp"
#include "imbrex/layers/rope_frequencies.hpp"
#include "imbrex/tensor.hpp"
#include "svg.hpp"
#include "table.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: rope_relative [--svg FILE]\n"
    "\n"
    "Inner products of a turned query and a turned key by their positions, in both layouts of\n"
    "pairs; then the wavelengths of the frequencies, as they are and scaled for longer contexts.\n"
    "  --svg FILE   draw the frequencies, and the inner product by distance, as well\n";

constexpr index_t d = 64, pairs = d / 2;
constexpr double theta = 10000;

using Layer = Rope<HeadDim<d>>;
using Head = std::vector<float>;

Head random_head(Random& random) {
  Head head(d);
  for (float& x : head) x = random.normal();
  return head;
}

/// <RoPE(q, m), RoPE(k, n)>, turned by the library's layer.
double product(const Layer& rope, const Head& q, const Head& k, index_t m, index_t n) {
  auto rows = zeros<float>(Time<2>(), Heads<1>(), HeadDim<d>());
  for (index_t i = 0; i < d; ++i) {
    rows(0, 0, i) = q[static_cast<std::size_t>(i)];
    rows(1, 0, i) = k[static_cast<std::size_t>(i)];
  }
  rope.turn(rows, Tensor<index_t, Time<2>>(Shape<Time<2>>(), {m, n}));
  double sum = 0;
  for (index_t i = 0; i < d; ++i) {
    sum += static_cast<double>(rows(0, 0, i)) * static_cast<double>(rows(1, 0, i));
  }
  return sum;
}

/// The same from the distance alone. A pair is a complex number, and turning multiplies it by
/// e^(i m f): sum over the pairs of Re(q conj(k) e^(-i (n - m) f)).
double formula(const Layer& rope, const Head& q, const Head& k, index_t distance) {
  double sum = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool half = rope.pairs() == RopePairs::half;
    const std::size_t a = half ? i : 2 * i, b = half ? i + pairs : 2 * i + 1;
    const double qa = double{q[a]}, qb = double{q[b]}, ka = double{k[a]}, kb = double{k[b]};
    const double angle = static_cast<double>(distance) * double{rope.frequencies()[i]};
    sum += (qa * ka + qb * kb) * std::cos(angle) + (qb * ka - qa * kb) * std::sin(angle);
  }
  return sum;
}

double norm(const Head& x) {
  double sum = 0;
  for (const float value : x) sum += double{value} * double{value};
  return std::sqrt(sum);
}

void show_products(const Layer& rope, const char* title, const Head& q, const Head& k) {
  constexpr index_t starts[] = {0, 1, 100, 4096, 100000};
  std::printf("%s\n", title);
  examples::Table table("r");
  std::vector<std::string> head{"n - m"};
  for (const index_t m : starts) head.push_back("m = " + std::to_string(m));
  head.push_back("by distance");
  table.add(head);
  for (const index_t distance : {0, 1, 2, 10, 1000}) {
    std::vector<std::string> cells{std::to_string(distance)};
    for (const index_t m : starts) {
      cells.push_back(examples::decimals(product(rope, q, k, m, m + distance), 4));
    }
    cells.push_back(examples::decimals(formula(rope, q, k, distance), 4));
    table.add(cells);
  }
  table.print();
  std::printf("\n");
}

/// The largest difference between the two, as a part of |q| |k|, over many heads and positions.
double worst_deviation(const Layer& rope, int trials) {
  Random random(2);
  double worst = 0;
  for (int i = 0; i < trials; ++i) {
    const Head q = random_head(random), k = random_head(random);
    const auto position = [&] { return static_cast<index_t>(random.uniform() * 131072); };
    const index_t m = position(), n = position();
    const double difference = product(rope, q, k, m, n) - formula(rope, q, k, n - m);
    worst = std::fmax(worst, std::fabs(difference) / (norm(q) * norm(k)));
  }
  return worst;
}

void show_deviation(const std::vector<Layer>& layouts) {
  constexpr int trials = 10000;
  // An element of a turned pair is a cos - b sin in float: five roundings, off by at most 3 * 2^-24
  // (|a cos| + |b sin|), which is no more than 3 * 2^-24 times the pair's length. So a head is off
  // by at most 3 sqrt(2) 2^-24 of its length, and there are two.
  const double allowed = 2 * 3 * std::sqrt(2.0) * 0x1p-24;
  std::printf("%d random q, k, m, n, positions below 131072: largest difference / (|q| |k|)\n",
              trials);
  examples::Table table("l");
  for (const Layer& rope : layouts) {
    const double worst = worst_deviation(rope, trials);
    char digits[16], text[64];
    // Its digits depend on the machine's instruction set: not all round a multiply-add once.
    std::snprintf(digits, sizeof digits, "%.1e", worst);
    const char* found = worst < 1e-7 ? "below 1e-07" : digits;
    std::snprintf(text, sizeof text, "%s, where rounding allows %.1e", found, allowed);
    table.add({rope.pairs() == RopePairs::half ? "half" : "interleaved", text});
    if (!(worst <= allowed)) raise(Error("inner products depend on more than the distance"));
  }
  table.print();
  std::printf("\n");
}

// --- Longer contexts -----------------------------------------------------------------------------

struct Variant {
  const char* name;
  std::vector<float> frequencies;
};

/// Four times the context of 2048 positions.
std::vector<Variant> variants() {
  const auto scaled = [](RopeScalingKind kind) {
    return rope_frequencies(theta, d, {.kind = kind, .factor = 4, .original_context = 2048});
  };
  // NTK-aware scaling is another theta: the slowest pair is divided by 4, the fastest not at all.
  const double ntk = theta * std::pow(4, static_cast<double>(d) / (d - 2));
  return {{"plain", rope_frequencies(theta, d)},
          {"linear", scaled(RopeScalingKind::linear)},
          {"NTK-aware", rope_frequencies(ntk, d)},
          {"YaRN", scaled(RopeScalingKind::yarn)},
          {"llama3", scaled(RopeScalingKind::llama3)}};
}

void show_wavelengths(const std::vector<Variant>& all) {
  std::printf(
      "wavelengths in tokens, 2 pi / f, of theta = %g and %d elements: a context of 2048\n"
      "made 4 times as long\n",
      theta, static_cast<int>(d));
  examples::Table table("r");
  std::vector<std::string> head{"pair"};
  for (const Variant& v : all) head.push_back(v.name);
  table.add(head);
  for (const std::size_t i : {0u, 8u, 12u, 16u, 18u, 20u, 24u, 31u}) {
    std::vector<std::string> cells{std::to_string(i)};
    for (const Variant& v : all) {
      cells.push_back(examples::decimals(rope_detail::two_pi / double{v.frequencies[i]}, 1));
    }
    table.add(cells);
  }
  table.print();
  const RopeScaling yarn{.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 2048};
  std::printf("\nYaRN multiplies cos and sin by %.4f besides, and so scores by its square.\n",
              static_cast<double>(rope_magnitude(yarn)));
}

void draw(const std::vector<Variant>& all, const std::string& path) {
  using examples::Point;
  examples::Picture picture(760, 570, "RoPE: frequencies, and inner products by distance");
  const auto stroke = [](std::size_t v) {
    return examples::Stroke{examples::colours[v], 2, v == 0 ? "" : v == 3 ? "7 3" : ""};
  };
  examples::Chart ratio(picture, {60, 34, 290, 210}, "frequency over the plain one",
                        {"pair i", 0, 31}, {"", 0, 1.1});
  examples::Chart wave(picture, {440, 34, 290, 210}, "wavelength in tokens", {"pair i", 0, 31},
                       {"", 1, 3e5, true});
  examples::Chart decay(
      picture, {60, 314, 670, 210},
      "q.k of a head with itself, over its square: (2 / d) sum of cos(distance f)",
      {"distance in tokens", 1, 8192, true, {1, 4, 16, 64, 256, 1024, 2048, 8192}}, {"", -0.4, 1});
  for (std::size_t v = 0; v < all.size(); ++v) {
    std::vector<Point> ratios, waves, products;
    for (std::size_t i = 0; i < pairs; ++i) {
      const double f = double{all[v].frequencies[i]}, x = static_cast<double>(i);
      ratios.push_back({x, f / double{all[0].frequencies[i]}});
      waves.push_back({x, rope_detail::two_pi / f});
    }
    for (double distance = 1; distance <= 8192; distance *= 1.02) {
      double sum = 0;
      for (const float f : all[v].frequencies) sum += std::cos(distance * double{f});
      products.push_back({distance, sum / pairs});
    }
    ratio.curve(ratios, stroke(v));
    wave.curve(waves, stroke(v));
    wave.legend({0.05, 0.03}, static_cast<int>(v), all[v].name, stroke(v));
    if (v <= 2) decay.curve(products, {examples::colours[v], 1.3});
  }
  picture.write(path);
}

bool run(int argc, char** argv) {
  std::string svg;
  examples::CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view word = line.take();
    if (examples::asks_for_help(word)) return false;
    if (word != "--svg") examples::refuse(word);
    svg = line.file(word);
  }
  Random random(1);
  const Head q = random_head(random), k = random_head(random);
  const std::vector<Layer> layouts = {Layer(rope_frequencies(theta, d), RopePairs::interleaved),
                                      Layer(rope_frequencies(theta, d), RopePairs::half)};
  show_products(layouts[0], "q.k by m and n - m, pairs (2i, 2i + 1): interleaved", q, k);
  show_products(layouts[1], "the same q and k, pairs (i, i + d/2): half", q, k);
  show_deviation(layouts);
  const std::vector<Variant> all = variants();
  show_wavelengths(all);
  if (!svg.empty()) draw(all, svg);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("rope_relative", usage, argc, argv, run);
}
