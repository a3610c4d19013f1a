#include "imbrex/text/utf8_stream.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/base/random.hpp"

using namespace imbrex;

namespace {

/// Whether `text` ends inside a character that more bytes could complete.
bool ends_inside(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character c = read_utf8(text);
    if (c.status == Utf8Status::partial) return true;
    text.remove_prefix(static_cast<std::size_t>(c.bytes));
  }
  return false;
}

}  // namespace

TEST_CASE("Utf8Stream: every way to cut a text of characters of 1 to 4 bytes") {
  const std::string text =
      "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80z";   // a, e acute, middle, smile, z
  const unsigned ways = 1u << (text.size() - 1);  // a cut behind byte i, or not
  for (unsigned cuts = 0; cuts < ways; ++cuts) {
    Utf8Stream stream;
    std::string all, piece;
    for (std::size_t i = 0; i < text.size(); ++i) {
      piece += text[i];
      if (i + 1 < text.size() && (cuts >> i & 1u) == 0) continue;
      const std::string out(stream.feed(piece));
      REQUIRE_FALSE(ends_inside(out));
      all += out;
      piece.clear();
    }
    REQUIRE(stream.held() == 0);
    REQUIRE(all == text);
    REQUIRE(stream.flush().empty());
  }
}

TEST_CASE("Utf8Stream: an emoji comes out with its last byte") {
  Utf8Stream stream;
  CHECK(stream.feed("\xF0") == "");
  CHECK(stream.feed("\x9F\x98") == "");
  CHECK(stream.held() == 3);
  CHECK(stream.feed("\x80") == "\xF0\x9F\x98\x80");
  CHECK(stream.held() == 0);
}

TEST_CASE("Utf8Stream: an invalid byte passes at once and holds nothing up") {
  Utf8Stream stream;
  CHECK(stream.feed("\xFF") == "\xFF");
  CHECK(stream.feed("\x80\x80\x80\x80") == "\x80\x80\x80\x80");
  CHECK(stream.feed("a\xC0") == "a\xC0");  // no character begins with it
  CHECK(stream.feed("\xF0\x9F") == "");    // one might
  CHECK(stream.feed("a") ==
        "\xF0\x9F"
        "a");                                    // it did not
  CHECK(stream.feed("\xED\xA0") == "\xED\xA0");  // a surrogate: no third byte helps
  CHECK(stream.feed("\xF4\x90\x80") == "\xF4\x90\x80");
}

TEST_CASE("Utf8Stream: the end gives back what was held, once") {
  Utf8Stream stream;
  CHECK(stream.feed("caf\xC3") == "caf");
  CHECK(stream.flush() == "\xC3");
  CHECK(stream.flush() == "");
  CHECK(stream.feed("\xA9") == "\xA9");  // nothing is left of what was flushed
}

TEST_CASE("Utf8Stream: any bytes in any pieces come out the same, at most 3 late") {
  Random random(7);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  const unsigned char likely[] = {0xF0, 0x9F, 0x80, 0xE4, 0xC3, 0xED, 0xA0, 'a', 0xFF, 0xF4};
  for (int round = 0; round < 2000; ++round) {
    Utf8Stream stream;
    std::string in, out;
    for (int piece = 0; piece < 20; ++piece) {
      std::string bytes;
      for (std::uint32_t n = below(5); n > 0; --n) {
        bytes += static_cast<char>(below(2) != 0 ? likely[below(10)]
                                                 : static_cast<unsigned char>(below(256)));
      }
      in += bytes;
      out += stream.feed(bytes);
      REQUIRE(in.size() - out.size() == static_cast<std::size_t>(stream.held()));
      REQUIRE(stream.held() <= 3);
    }
    out += stream.flush();
    REQUIRE(in == out);
  }
}
