// The example `online_softmax`, run as a user runs it.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

using namespace imbrex::tests;

namespace {

const std::string program = IMBREX_EXAMPLES "online_softmax";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  return result;
}

/// The words of the first line that begins with these.
std::vector<std::string> line_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != line.npos && line.compare(first, start.size(), start) == 0) return words_of(line);
  }
  FAIL("no line begins with " << start);
  return {};
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("online_softmax: six scores by hand") {
  const ProgramRun run = run_program(program, {"8"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  // Scores 1 3 | 2 5 | 4 0, values 1 2 | 3 4 | 5 6.
  // m = 3: l = e^-2 + 1 = 1.135335, o = e^-2 + 2 = 2.135335, o / l = 1.880797
  CHECK(line_of(run.out, "1 ") ==
        Words{"1", "1", "3", "1", "2", "3", "0.000000", "1.135335", "2.135335", "1.880797"});
  // m = 5: e^-2 = 0.135335; l = 0.153651 + e^-3 + 1 = 1.203438, o = 0.288986 + 3 e^-3 + 4
  CHECK(line_of(run.out, "2 ") ==
        Words{"2", "2", "5", "3", "4", "5", "0.135335", "1.203438", "4.438347", "3.688057"});
  // m stays: l = 1.203438 + e^-1 + e^-5, o = 4.438347 + 5 e^-1 + 6 e^-5
  CHECK(line_of(run.out, "3 ") ==
        Words{"3", "4", "0", "5", "6", "5", "1.000000", "1.578055", "6.318172", "4.003771"});
  CHECK(line_of(run.out, "plain") ==
        Words{"plain,", "all", "at", "once", "5", "1.578055", "6.318172", "4.003771"});
}

TEST_CASE("online_softmax: T x T floats against a stack that does not grow, and one result") {
  const ProgramRun run = run_program(program, {"100", "300", "600"});
  CHECK(run.code == 0);
  const Words small_row = line_of(run.out, "100 "), middle = line_of(run.out, "300 "),
              large = line_of(run.out, "600 ");
  REQUIRE(small_row.size() == 8);
  REQUIRE(middle.size() == 8);
  REQUIRE(large.size() == 8);
  CHECK(small_row[1] == "40,000");  // 4 T^2
  CHECK(middle[1] == "360,000");
  CHECK(large[1] == "1,440,000");
  for (const Words& row : {small_row, middle, large}) {
    CHECK(row[2] == row[1]);                   // what plain attention asked the heap for
    CHECK(row[3] == "0");                      // and the tiles
    CHECK(row[4] + row[5] == "below327,680");  // bytes of stack, for each T
    CHECK(row[6] + row[7] == "below1e-5");
  }
  CHECK(run_program(program, {"100", "300", "600"}).out == run.out);
}

TEST_CASE("online_softmax: --help, and what it does not know") {
  const ProgramRun help = run_program(program, {"--help"});
  CHECK(help.code == 0);
  CHECK(help.out.find("usage: online_softmax") == 0);
  for (const char* word :
       {"--bogus", "0", "-5", "ten", "10x", "", "32769", "99999999999999999999"}) {
    const std::string complaint = one_line_error(run_program(program, {word}), "online_softmax");
    CHECK_MESSAGE(complaint.find(std::string("got \"") + word + "\"") != std::string::npos, word);
  }
}
