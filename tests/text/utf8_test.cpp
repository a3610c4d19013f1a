#include "imbrex/text/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace imbrex;

namespace {

Utf8Status status(std::string_view text) { return read_utf8(text).status; }

}  // namespace

TEST_CASE("UTF-8: every code point is read back, and is partial when cut") {
  int wrong = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(code, text);
    const Utf8Character c = read_utf8(text);
    wrong +=
        c.status != Utf8Status::whole || c.code != code || c.bytes != static_cast<int>(text.size());
    for (std::size_t n = 1; n < text.size(); ++n) {
      wrong += status(std::string_view(text).substr(0, n)) != Utf8Status::partial;
    }
  }
  CHECK(wrong == 0);
}

// The Unicode Standard, chapter 3, table 3-7: what is not in it is ill-formed.
TEST_CASE("UTF-8: ill-formed sequences") {
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3(", "\xE0\x80\x80", "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82(", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80", "\xFE", "\xFF"}) {
    CAPTURE(static_cast<int>(static_cast<unsigned char>(text[0])));
    CHECK(status(text) == Utf8Status::invalid);
    CHECK(read_utf8(text).bytes == 1);
  }
}
