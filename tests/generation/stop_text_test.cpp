#include "imbrex/generation/stop_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/base/random.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

using Texts = std::vector<std::string>;

/// What comes out, piece by piece, "|" between the calls; "!" where a stop text was found.
std::string stream(const Texts& stops, const Texts& pieces) {
  StopText stop(stops);
  std::string out;
  for (const std::string& piece : pieces) {
    out += stop.feed(piece);
    out += stop.found() ? "!" : "|";
  }
  return out += stop.flush();
}

/// The text before the stop text that is complete first; by trying every beginning of the text.
std::string by_definition(const Texts& stops, const std::string& text) {
  for (std::size_t n = 1; n <= text.size(); ++n) {
    std::size_t longest = 0;
    for (const std::string& stop : stops) {
      if (stop.size() > longest && text.substr(0, n).ends_with(stop)) longest = stop.size();
    }
    if (longest > 0) return text.substr(0, n - longest);
  }
  return text;
}

}  // namespace

TEST_CASE("stop text: text passes at once unless it could begin one") {
  CHECK(stream({}, {"a", "", "bc"}) == "a||bc|");
  CHECK(stream({"END"}, {"a", "E", "x"}) == "a||Ex|");
  CHECK(stream({"END"}, {"aEN", "ENx"}) == "a|ENENx|");
  CHECK(stream({"END"}, {"aE", "N"}) == "a||EN");  // the end comes before it is decided
}

TEST_CASE("stop text: it stops there, and nothing comes behind") {
  CHECK(stream({"END"}, {"abENDxy"}) == "ab!");
  CHECK(stream({"END"}, {"ab", "E", "N", "D", "x", "y"}) == "ab|||!!!");
  CHECK(stream({"END"}, {"END"}) == "!");
  CHECK(stream({"\n\n"}, {"a\n", "b\n", "\nc"}) == "a|\nb|!");
}

TEST_CASE("stop text: beginnings that overlap") {
  CHECK(stream({"aab"}, {"aa", "ab"}) == "|a!");  // the second a may begin it, too
  CHECK(stream({"abab", "b"}, {"xaba"}) == "xa!");
  CHECK(stream({"abc", "bd"}, {"ab", "d"}) == "|a!");
}

TEST_CASE("stop text: of several the one that is complete first, of those the longest") {
  CHECK(stream({"bcd", "c"}, {"abcd"}) == "ab!");
  CHECK(stream({"bcd", "c"}, {"abc", "d"}) == "ab!!");
  CHECK(stream({"c", "bc"}, {"abc"}) == "a!");
}

TEST_CASE("stop text: an empty one is an error") {
  CHECK(message_of<ConfigError>([] { StopText({"x", ""}); }) ==
        "stop = \"\": expected a text of one byte or more");
}

TEST_CASE("stop text: wherever the stream is cut, the text is that of the definition") {
  Random random(3);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto word = [&](std::size_t length) {
    std::string text;
    while (text.size() < length) text += "ab"[below(2)];
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    Texts stops;
    for (std::size_t n = below(4); n > 0; --n) stops.push_back(word(1 + below(5)));
    const std::string text = word(below(20));
    StopText stop(stops);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = below(4);
      out += stop.feed(text.substr(at, length));
      at += length;
      // Nothing is held back longer than it needs to be.
      std::size_t longest = 1;
      for (const std::string& s : stops) longest = (std::max)(longest, s.size());
      if (!stop.found()) REQUIRE(out.size() + longest > (std::min)(at, text.size()));
    }
    out += stop.flush();
    CAPTURE(text);
    REQUIRE(out == by_definition(stops, text));
    REQUIRE(stop.found() == (out.size() < text.size()));
  }
}
