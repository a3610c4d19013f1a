#include "imbrex/text/byte_level.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace imbrex;

TEST_CASE("byte level: the characters known from vocabulary files") {
  CHECK(byte_to_code_point(' ') == 0x120);  // the leading character of " the"
  CHECK(byte_to_code_point('\n') == 0x10A);
  CHECK(byte_to_code_point('\t') == 0x109);
  CHECK(byte_to_code_point('A') == 'A');
  CHECK(byte_to_code_point(0x00) == 0x100);
  CHECK(byte_to_code_point(0x7F) == 0x121);  // the 34th that is not printable: 33 below, then DEL
  CHECK(byte_to_code_point(0xA0) == 0x142);
  CHECK(byte_to_code_point(0xAD) == 0x143);  // the last one
  CHECK(byte_to_code_point(0xE9) == 0xE9);
  CHECK(to_byte_level(" a\n") == "\u0120a\u010A");
}

TEST_CASE("byte level: one character for each byte, and back") {
  std::set<char32_t> codes;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t code = byte_to_code_point(static_cast<unsigned char>(byte));
    codes.insert(code);
    CHECK(code_point_to_byte(code) == byte);
    const std::string text(1, static_cast<char>(static_cast<unsigned char>(byte)));
    std::string back;
    CHECK(from_byte_level(to_byte_level(text), back));
    CHECK(back == text);
  }
  CHECK(codes.size() == 256);
}

TEST_CASE("byte level: what is not of the alphabet is refused, and nothing is written") {
  std::string bytes = "before";
  CHECK_FALSE(from_byte_level("a b", bytes));     // a space is written U+0120
  CHECK_FALSE(from_byte_level("\u4E2D", bytes));  // far outside
  CHECK_FALSE(from_byte_level("\u0144", bytes));  // the first behind the alphabet
  CHECK_FALSE(from_byte_level("a\xFF", bytes));   // not UTF-8
  CHECK_FALSE(from_byte_level("a\xC4", bytes));   // cut off
  CHECK(bytes == "before");
  CHECK(from_byte_level("", bytes));
  CHECK(bytes.empty());
}
