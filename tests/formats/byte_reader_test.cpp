#include "imbrex/formats/byte_reader.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "tests/formats/handmade_gguf.hpp"

using namespace imbrex;

TEST_CASE("numbers and strings, one after the other") {
  const auto bytes = handmade::Bytes().u8(7).u32(0x01020304).text("abc").u64(2).u8(9).data;
  ByteReader in(bytes, "f");
  CHECK(in.number<std::uint8_t>("a") == 7);
  CHECK(in.number<std::uint32_t>("b") == 0x01020304);  // from an odd address
  CHECK(in.text("c") == "abc");
  CHECK(in.position() == 16);
  CHECK(in.left() == 9);
  CHECK_THROWS_WITH_AS(in.text("a name"),
                       "f: a name is more than the file holds at byte 16: expected at most 1, got "
                       "2",
                       FormatError);
  CHECK(in.position() == 16);  // nothing was taken
}

TEST_CASE("nothing is read beyond the end") {
  const auto bytes = handmade::Bytes().u8(1).u8(2).u8(3).data;
  ByteReader in(bytes, "f");
  CHECK_THROWS_WITH_AS(in.number<float>("x"),
                       "f: file ends inside x at byte 0: expected 4 bytes, got 3 bytes",
                       FormatError);
  CHECK_THROWS_AS(in.take(4, "x"), FormatError);
  CHECK_THROWS_AS(in.take(-1, "x"), FormatError);
  CHECK(in.take(3, "x").size() == 3);
  CHECK(in.take(0, "x").empty());
  CHECK_THROWS_AS(in.take(1, "x"), FormatError);
}

TEST_CASE("a count must have room for its entries") {
  const auto bytes = handmade::Bytes().u64(4).zeros(15).data;
  ByteReader in(bytes, "f");
  CHECK_THROWS_AS(in.count(4, "n"), FormatError);  // 15 bytes hold three entries of 4
  CHECK(in.count(3, "n") == 4);
}
