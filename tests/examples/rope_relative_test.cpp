// The example `rope_relative`, run as a user runs it.
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

const std::string program = IMBREX_EXAMPLES "rope_relative";

/// The lines that are `columns` numbers and nothing else.
std::vector<std::vector<double>> rows_of(const std::string& text, std::size_t columns) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<double> row;
    for (double x; words >> x;) row.push_back(x);
    if (words.eof() && row.size() == columns) rows.push_back(row);
  }
  return rows;
}

/// What the wavelength of a pair should be, as the table has it.
void check_wavelength(double got, double expected) {
  CHECK(std::abs(got - expected) <= 0.05 + 1e-6 * expected);
}

}  // namespace

TEST_CASE("rope_relative: a row has one number, whatever m is, in both layouts") {
  const ProgramRun run = run_program(program, {});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  // n - m, five positions m, and the same by a formula that knows the distance only.
  const auto rows = rows_of(run.out, 7);
  REQUIRE(rows.size() == 10);
  for (const auto& row : rows) {
    // 6 sqrt(2) 2^-24 |q| |k|, |q| |k| some 64, is below 1e-4; and both were rounded to 1e-4.
    for (std::size_t i = 1; i < 6; ++i) CHECK(std::abs(row[i] - row[6]) < 2.1e-4);
  }
  // At no distance nothing turns and the layouts agree; elsewhere they are different products.
  CHECK(rows[0][6] == rows[5][6]);
  CHECK(rows[3][0] == 10);
  CHECK(std::abs(rows[3][6] - rows[8][6]) > 0.1);
  CHECK(occurrences(run.out, "below 1e-07, where rounding allows 5.1e-07") == 2);
}

TEST_CASE("rope_relative: wavelengths of plain and scaled frequencies") {
  const ProgramRun run = run_program(program, {});
  // pair, plain, linear, NTK-aware, YaRN, llama3; six numbers a row.
  const auto rows = rows_of(run.out, 6);
  REQUIRE(rows.size() == 8);
  const double pi = 3.14159265358979;
  for (const auto& row : rows) {
    CAPTURE(row[0]);
    const double i = row[0], plain = 2 * pi * std::pow(10000.0, i / 32);
    check_wavelength(row[1], plain);
    check_wavelength(row[2], 4 * plain);  // positions divided by 4 (Chen et al. 2023)
    // theta times 4^(d / (d - 2)): pair i is 4^(2i / (d - 2)) times slower (bloc97 2023)
    check_wavelength(row[3], plain * std::pow(4.0, 2 * i / 62));
    CHECK(row[4] >= row[1] - 0.05);  // between the plain and the linear one
    CHECK(row[4] <= row[2] + 0.05);
    // Llama 3.1: left alone below 2048 / 4 tokens, divided by 4 above 2048, between them mixed.
    if (plain < 512) check_wavelength(row[5], plain);
    if (plain > 2048) check_wavelength(row[5], 4 * plain);
  }
  // YaRN, Peng et al. 2023: left alone where a pair turns 32 times and more in 2048 tokens (below
  // 64 tokens), divided where less than once (above 2048), a ramp over the pairs between.
  check_wavelength(rows[1][4], 2 * pi * 10);        // pair 8: 62.8 tokens
  check_wavelength(rows[6][4], 4 * 2 * pi * 1000);  // pair 24: 6283 tokens
  CHECK(run.out.find("multiplies cos and sin by 1.1386") != std::string::npos);  // 0.1 ln 4 + 1
}

TEST_CASE("rope_relative: the picture is well-formed") {
  const ScratchDirectory directory;
  const std::string path = directory / "p.svg";
  CHECK(run_program(program, {"--svg", path}).code == 0);
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(XmlCheck::problem(text) == "");
  CHECK(occurrences(text, "<polyline") == 5 + 5 + 3);
}

TEST_CASE("rope_relative: --help, and what it does not know") {
  const ProgramRun help = run_program(program, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: rope_relative") == 0);
  const auto complaint = [](const std::vector<std::string>& words) {
    return one_line_error(run_program(program, words), "rope_relative");
  };
  CHECK(complaint({"more"}).find("'more'") != std::string::npos);
  CHECK(complaint({"--svg"}) == "--svg: expected a value behind it");
}
