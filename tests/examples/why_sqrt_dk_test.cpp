// The example `why_sqrt_dk`, run as a user runs it.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/examples/well_formed.hpp"
#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

const std::string program = IMBREX_EXAMPLES "why_sqrt_dk";

/// The rows of numbers: d_k, variance, ratio, entropies, largest weights, gradients.
std::vector<std::vector<double>> rows_of(const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<double> row;
    for (double x; words >> x;) row.push_back(x);
    if (row.size() == 9) rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("why_sqrt_dk: the variance of q.k is d_k, and only the scaled softmax stays soft") {
  const ProgramRun run = run_program(program, {});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  const auto rows = rows_of(run.out);
  REQUIRE(rows.size() == 5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double>& r = rows[i];
    const double d = 16 * std::pow(2.0, static_cast<double>(i));
    CAPTURE(d);
    CHECK(r[0] == d);
    // 32 rounds of 64 queries and 64 keys. (q.k)^2 given k is |k|^2, of relative variance 2/d,
    // times a square of variance 2: the mean over the 64 x 64 products of a round has the relative
    // variance (2/d + 2/d) / 64 + 2 / 4096. Four standard deviations:
    const double deviation = std::sqrt((4 / d / 64 + 2.0 / 4096) / 32);
    CHECK(std::abs(r[1] / d - 1) < 4 * deviation);
    CHECK(std::abs(r[2] - r[1] / d) < 1e-3);
    // Scores of variance 1: the entropy is log n - 1/2 for many keys n; with 64, a little more.
    CHECK(std::abs(r[4] - (std::log(64) - 0.5)) < 0.05);
    CHECK(r[6] < 0.12);
    CHECK(r[8] > 0.95);
    // A matrix of squared weights has the trace sum p^2, no larger than the largest weight.
    CHECK(1 - r[7] <= r[5] + 1e-3);
    CHECK(1 - r[8] <= r[6] + 1e-3);
    if (i > 0) {
      CHECK(r[3] < rows[i - 1][3]);
      CHECK(r[5] > rows[i - 1][5]);
      CHECK(r[7] < rows[i - 1][7]);
    }
  }
  CHECK(rows.back()[5] > 0.85);
  CHECK(rows.back()[3] < 0.3);
  CHECK(run.out.find("e^8 = 2981") !=
        std::string::npos);  // about 3000, as the rule of thumb has it
}

TEST_CASE("why_sqrt_dk: the picture is well-formed and the same each time") {
  const ScratchDirectory directory;
  std::string pictures[2];
  for (std::string& picture : pictures) {
    const std::string path = directory / "p.svg";
    CHECK(run_program(program, {"--svg", path}).code == 0);
    std::ifstream file(path, std::ios::binary);
    picture.assign(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(XmlCheck::problem(pictures[0]) == "");
  CHECK(occurrences(pictures[0], "<polyline") == 4);
  CHECK(pictures[0] == pictures[1]);
}

TEST_CASE("why_sqrt_dk: --help, and what it does not know") {
  const ProgramRun help = run_program(program, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: why_sqrt_dk") == 0);
  const auto complaint = [](const std::vector<std::string>& words) {
    return one_line_error(run_program(program, words), "why_sqrt_dk");
  };
  CHECK(complaint({"--bogus"}).find("'--bogus'") != std::string::npos);
  CHECK(complaint({"--svg"}) == "--svg: expected a value behind it");
  CHECK(complaint({"--svg", "/missing/p.svg"}).find("/missing/p.svg") != std::string::npos);
}
