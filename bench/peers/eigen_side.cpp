// Eigen's products of f32 matrices, with its own threads, compiled for the machine it is built on:
// the same requests as `imbrex_side products`.
#include <Eigen/Dense>

#include "bench/peers/worker.hpp"

namespace {

using namespace peers;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr index_t copies = 4;

Matrix filled(index_t rows, index_t columns, index_t first, std::uint32_t seed) {
  Matrix m(rows, columns);
  for (index_t i = 0; i < m.size(); ++i) m.data()[i] = operand(first + i, seed);
  return m;
}

struct Products {
  Matrix x, y;
  std::vector<Matrix> w;
  index_t at = 0;

  Answer operator()(const std::string& request, Words& words) {
    if (request == "threads") {
      Eigen::setNbThreads(static_cast<int>(words.number()));
      return Answer().add("threads", Eigen::nbThreads());
    }
    if (request != "product") imbrex::raise(imbrex::Error("no such request"));
    const index_t rows = words.number(), outputs = words.number(), inputs = words.number();
    if (w.empty() || x.rows() != rows || x.cols() != inputs || w[0].rows() != outputs) {
      x = filled(rows, inputs, 0, 1);
      w.clear();
      for (index_t i = 0; i < copies; ++i) {
        w.push_back(filled(outputs, inputs, i * outputs * inputs, 2));
      }
      y.resize(rows, outputs);
    }
    at = (at + 1) % copies;
    const Matrix& chosen = w[static_cast<std::size_t>(at)];
    const double time = seconds([&] { y.noalias() = x * chosen.transpose(); });
    std::vector<double> some;
    for (index_t i = 0; i < 8; ++i) {
      some.push_back(double{y.data()[(i * 7919 * 104729 + i) % y.size()]});
    }
    return Answer().add("seconds", time).add("copy", static_cast<double>(at)).add("some", some);
  }
};

}  // namespace

int main() {
  Products products;
  answer_all([&](const std::string& r, Words& w) { return products(r, w); });
}
