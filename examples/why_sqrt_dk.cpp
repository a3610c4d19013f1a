// Why attention divides q.k by sqrt(d_k): with components of variance 1, q.k has variance d_k, and
// the softmax of numbers that far apart is next to one-hot, where it passes no gradient on.
//
//   why_sqrt_dk [--svg FILE]
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/kernels/matmul.hpp"
#include "imbrex/kernels/scale.hpp"
#include "imbrex/kernels/softmax.hpp"
#include "svg.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: why_sqrt_dk [--svg FILE]\n"
    "\n"
    "Samples queries and keys, and shows the variance of q.k and what the softmax makes of it,\n"
    "with and without the factor 1/sqrt(d_k).\n"
    "  --svg FILE   draw it as well\n";

constexpr index_t widths[] = {16, 32, 64, 128, 256};
constexpr index_t keys = 64, queries = 64, rounds = 32;  // 131072 products for each d_k

/// Means over rows of softmax weights.
struct Weights {
  double entropy = 0;   ///< -sum p log p, in nats: log(keys) where all are alike, 0 where one is 1
  double largest = 0;   ///< max p
  double gradient = 0;  ///< sum p (1 - p), the trace of softmax's Jacobian diag(p) - p p^T

  void add(const float* p, double share) {
    double squares = 0, peak = 0;
    for (index_t j = 0; j < keys; ++j) {
      const double x = static_cast<double>(p[j]);
      if (x > 0) entropy -= share * x * std::log(x);
      squares += x * x;
      peak = std::fmax(peak, x);
    }
    largest += share * peak;
    gradient += share * (1 - squares);
  }
};

struct Sample {
  index_t width = 0;
  double variance = 0;  ///< of q.k, whose mean is 0
  Weights plain{}, scaled{};
};

Weights weights_of(std::vector<float> scores, float scale) {
  const kernels::Rows rows{scores.data(), queries, keys, keys};
  kernels::scale(rows, rows, scale);
  kernels::softmax(rows, rows);
  Weights weights;
  for (index_t i = 0; i < queries; ++i) weights.add(rows.row(i), 1.0 / (queries * rounds));
  return weights;
}

void add(Weights& to, const Weights& more) {
  to.entropy += more.entropy;
  to.largest += more.largest;
  to.gradient += more.gradient;
}

/// Every round has keys of its own, so that few of them cannot bend the means.
Sample sample(index_t d, Random& random) {
  Sample result;
  result.width = d;
  std::vector<float> q(static_cast<std::size_t>(queries * d)),
      k(keys * static_cast<std::size_t>(d)), scores(queries * keys);
  for (index_t round = 0; round < rounds; ++round) {
    for (float& x : q) x = random.normal();
    for (float& x : k) x = random.normal();
    kernels::matmul({scores.data(), queries, keys, keys}, {q.data(), queries, d, d},
                    {reinterpret_cast<const std::byte*>(k.data()), Dtype::f32, keys, d, 4 * d});
    for (const float s : scores) {
      result.variance +=
          static_cast<double>(s) * static_cast<double>(s) / (queries * keys * rounds);
    }
    add(result.plain, weights_of(scores, 1));
    add(result.scaled, weights_of(scores, 1 / std::sqrt(static_cast<float>(d))));
  }
  return result;
}

void print(const std::vector<Sample>& samples) {
  std::printf("q and k with normal components; softmax over %d keys (log %d = %.3f nats)\n\n",
              static_cast<int>(keys), static_cast<int>(keys), std::log(keys));
  std::printf("%5s %9s %9s   %-21s   %-21s   %s\n", "", "variance", "", "entropy", "largest weight",
              "sum p (1 - p)");
  std::printf("%5s %9s %9s %11s %11s %11s %11s %11s %11s\n", "d_k", "of q.k", "/ d_k", "q.k",
              "scaled", "q.k", "scaled", "q.k", "scaled");
  for (const Sample& s : samples) {
    std::printf("%5d %9.2f %9.3f %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f\n",
                static_cast<int>(s.width), s.variance, s.variance / static_cast<double>(s.width),
                s.plain.entropy, s.scaled.entropy, s.plain.largest, s.scaled.largest,
                s.plain.gradient, s.scaled.gradient);
  }
  std::printf(
      "\nAt d_k = 64 scores are about 8 apart: weights e^8 = %.0f times apart. Divided by\n"
      "sqrt(64), they are 1 apart: e^1 = %.2f.\n",
      std::exp(8.0), std::exp(1.0));
}

void draw(const std::vector<Sample>& samples, const std::string& path) {
  using examples::Point;
  examples::Picture picture(760, 300, "Softmax with and without 1/sqrt(d_k)");
  const std::vector<double> ticks(std::begin(widths), std::end(widths));
  const examples::ChartAxis x{"d_k", 16, 256, true, ticks};
  const auto chart = [&](double left, const char* title, double high, double Weights::* value) {
    examples::Chart box(picture, {left, 34, 290, 210}, title, x, {"", 0, high});
    const auto curve = [&](Weights Sample::* which, const examples::Stroke& stroke) {
      std::vector<Point> points;
      for (const Sample& s : samples) {
        points.push_back({static_cast<double>(s.width), s.*which.*value});
      }
      box.curve(points, stroke);
    };
    curve(&Sample::plain, {examples::colours[1], 2});
    curve(&Sample::scaled, {examples::colours[0], 2});
    return box;
  };
  chart(60, "entropy of the weights (nats)", 4.5, &Weights::entropy);
  auto last = chart(440, "sum p (1 - p): what gradients pass", 1, &Weights::gradient);
  last.legend({0.42, 0.3}, 0, "softmax(q.k / sqrt(d_k))", {examples::colours[0], 2});
  last.legend({0.42, 0.3}, 1, "softmax(q.k)", {examples::colours[1], 2});
  picture.write(path);
}

bool run(int argc, char** argv) {
  std::string svg;
  examples::CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view option = line.take();
    if (examples::asks_for_help(option)) return false;
    if (option != "--svg") examples::refuse(option);
    svg = line.file(option);
  }
  Random random(1);
  std::vector<Sample> samples;
  for (const index_t d : widths) samples.push_back(sample(d, random));
  print(samples);
  if (!svg.empty()) draw(samples, svg);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("why_sqrt_dk", usage, argc, argv, run);
}
