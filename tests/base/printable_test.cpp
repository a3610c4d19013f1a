// Text from outside in messages. Right values: UTF-8's table of well-formed bytes (Unicode, table
// 3-7; RFC 3629), and the lists of controls and of what sets the direction of writing (Unicode,
// chapter 23; UAX 9).
#include "imbrex/base/printable.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

using namespace imbrex;

TEST_CASE("text from files in messages") {
  CHECK(printable("plain") == "plain");
  CHECK(printable("") == "");
  CHECK(printable("a\nb\x7F\x1b[") == "a?b??[");
  CHECK(printable(std::string_view("a\0b", 3)) == "a?b");
  CHECK(printable("\u4E2D\U0001F600") == "\u4E2D\U0001F600");
}

TEST_CASE("printable: controls beyond ASCII, one ? each") {
  CHECK(printable("\x9B[2J") == "?[2J");                          // a C1 control as one byte
  CHECK(printable("a\u0080\u009B\u009F\u00A0") == "a???\u00A0");  // and as characters
  CHECK(printable("a\u0085z") == "a?z");                          // the next line
  CHECK(printable("a\u2028\u2029z") == "a??z");                   // separators
}

TEST_CASE("printable: what sets the direction of writing") {
  CHECK(printable("txt\u202Egpj.exe") == "txt?gpj.exe");  // shown as "txtexe.jpg" otherwise
  CHECK(printable("\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u2066\u2067\u2068\u2069.") ==
        "???????????.");
  const std::string beside = "\u061B\u061D\u200D\u2010\u2027\u202F\u2065\u206A";
  CHECK(printable(beside) == beside);
}

TEST_CASE("printable: a limit leaves no half of a character") {
  CHECK(printable("abcdef", 3) == "abc...");
  CHECK(printable("abc", 3) == "abc");
  CHECK(printable("abc", 0) == "...");
  CHECK(printable("a\u00FC!", 2) == "a...");  // two bytes
  CHECK(printable("a\u00FC!", 3) == "a\u00FC...");
  CHECK(printable("\u20AC\u20AC", 5) == "\u20AC...");                                 // three
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {  // four
    CHECK(printable("\U0001F600", limit) == "...");
  }
  CHECK(printable("\U0001F600", 4) == "\U0001F600");
  CHECK(printable("ab\u202Ec", 4) == "ab...");  // the bytes of the text count, not those shown
  CHECK(printable(std::string(8, '\x80'), 4) == "????...");
}

TEST_CASE("printable: bytes that are not UTF-8, one ? each") {
  CHECK(printable("\xFF|\xC3|\xED\xA0\x80|\xF4\x90\x80\x80") == "?|?|???|????");
  CHECK(printable("\xE2\x82") == "??");    // the end is missing
  CHECK(printable("\xE2\x82z") == "??z");  // and something else is there
  CHECK(printable("\xF8\x88\x80\x80\x80") == "?????");
}

TEST_CASE("printable: overlong forms are no way around") {
  CHECK(printable("\xC0\x80") == "??");              // U+0000 in two bytes
  CHECK(printable("\xC0\x8A|\xC1\xBF") == "??|??");  // a line feed; U+007F
  CHECK(printable("\xE0\x80\x8A") == "???");         // the same in three
  CHECK(printable("\xE0\x82\x9B") == "???");         // U+009B
  CHECK(printable("\xE0\x9F\xBF") == "???");         // U+07FF, the last one
  CHECK(printable("\xE0\xA0\x80") == "\u0800");      // the first that needs three
  CHECK(printable("\xF0\x82\x80\xAE") == "????");    // U+202E
  CHECK(printable("\xF0\x8F\xBF\xBF") == "????");    // U+FFFF
  CHECK(printable("\xF0\x90\x80\x80") == "\U00010000");
}
