// examples/command_line.hpp: which words are numbers, with every C++ library.
#include "examples/command_line.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

using examples::read_number;

TEST_CASE("command line: a number is all of a word, as the C locale writes it") {
  double number = 0;
  CHECK((read_number("0.1", number) && number == 0.1));
  CHECK((read_number("-2e-3", number) && number == -0.002));
  CHECK((read_number("1e+2", number) && number == 100));
  CHECK((read_number(".5", number) && number == 0.5));
  CHECK((read_number("inf", number) && number == HUGE_VAL));
  CHECK((read_number("nan", number) && std::isnan(number)));
  for (const char* wrong :
       {"", " 1", "1 ", "+1", "--1", "1e", "1,5", "1.2.3", "0x10", "1e999", "x"}) {
    CHECK_MESSAGE(!read_number(wrong, number), wrong);
  }
}

TEST_CASE("command line: whole numbers fit their type") {
  std::int64_t number = 0;
  CHECK((read_number("-9223372036854775808", number) && number == INT64_MIN));
  CHECK(!read_number("9223372036854775808", number));
  std::uint64_t natural = 0;
  CHECK((read_number("18446744073709551615", natural) && natural == UINT64_MAX));
  for (const char* wrong : {"", "-1", "+1", "1.5", "1e3", " 1", "18446744073709551616"}) {
    CHECK_MESSAGE(!read_number(wrong, natural), wrong);
  }
}
