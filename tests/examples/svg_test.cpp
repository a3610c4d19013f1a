// examples/svg.hpp: what a picture's file is made of.
#include "examples/svg.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "tests/examples/well_formed.hpp"
#include "tests/formats/scratch_directory.hpp"

using namespace examples;
using namespace imbrex::tests;

TEST_CASE("svg: the check of well-formed XML finds what is not") {
  CHECK(XmlCheck::problem("<a b=\"1\">x &amp; y<c/></a>\n") == "");
  for (const char* wrong :
       {"", "<a>", "<a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>&</a>", "<a>&nbsp;</a>",
        "<a/><b/>", "x<a/>", "<a b=\"<\"/>", "<a>\x01</a>", "<a b=\"1/>", "< a/>"}) {
    CHECK_MESSAGE(XmlCheck::problem(wrong) != "", wrong);
  }
}

TEST_CASE("svg: numbers are short, and the same everywhere") {
  CHECK(Picture::number(0) == "0");
  CHECK(Picture::number(12.5) == "12.5");
  CHECK(Picture::number(-0.001) == "0");
  CHECK(Picture::number(100) == "100");
  CHECK(Picture::number(1.0 / 3) == "0.33");
  CHECK(Picture::number(2.999) == "3");
  CHECK(Picture::number(1234567.25, 1) == "1234567.2");
  CHECK(Picture::number(40, 0) == "40");
  CHECK(Picture::number(1e300).size() == 301);
  CHECK_THROWS_AS(Picture::number(std::numeric_limits<double>::quiet_NaN()), imbrex::Error);
  CHECK_THROWS_AS(Picture::number(std::numeric_limits<double>::infinity()), imbrex::Error);
}

TEST_CASE("svg: any text is text") {
  CHECK(Picture::escaped("a < b & \"c\" > d") == "a &lt; b &amp; &quot;c&quot; &gt; d");
  CHECK(Picture::escaped("\xC3\xA9\xE7\x8C\xAB") == "\xC3\xA9\xE7\x8C\xAB");
  CHECK(Picture::escaped("a\x01\n\xFF") == "a???");
  CHECK(Picture::escaped("\xEF\xBF\xBE\xEF\xBF\xBF.") == "??.");  // U+FFFE, U+FFFF: not XML
}

TEST_CASE("svg: a picture of everything is well-formed and has a ground") {
  Picture picture(100, 50, "<&\">");
  picture.rectangle({1, 2, 3, 4}, "none", {ink});
  picture.line({0, 0}, {10, 10}, {"\"/><x>", 2, "4 3"});
  const std::vector<Point> points{{0, 0}, {1.5, 2}};
  picture.polyline(points);
  picture.dot({5, 5}, 2, colours[0]);
  picture.text({5, 5}, "</text>", {10, Anchor::end, -90});
  const std::string text = picture.svg();
  CHECK(XmlCheck::problem(text) == "");
  CHECK(text.find("viewBox=\"0 0 100 50\"") != text.npos);
  CHECK(text.find("<rect x=\"0\" y=\"0\" width=\"100\" height=\"50\" fill=\"#ffffff\"/>") !=
        text.npos);
  CHECK(text.find("<polyline points=\"0,0 1.5,2\" fill=\"none\"") != text.npos);
  CHECK(text.find("transform=\"rotate(-90 5 5)\"") != text.npos);
  CHECK(text.find("text-anchor=\"end\"") != text.npos);
}

TEST_CASE("svg: cells are one path a shade, equal neighbours one piece, zeros nothing") {
  Picture picture(10, 10, "cells");
  //   1 0 0.5        full: (0,0), and (0,1) to (2,1); half: (2,0)
  //   1 1 1
  const std::vector<float> values{1, 0, 0.5f, 1, 1, 1};
  picture.cells({2, 3, 6, 4}, values, 3, "#000000");
  const std::string text = picture.svg();
  CHECK(XmlCheck::problem(text) == "");
  CHECK(text.find("translate(2 3) scale(2 2)") != text.npos);
  CHECK(text.find("<path fill-opacity=\"1\" d=\"M0 0h1v1h-1zM0 1h3v1h-3z\"/>") != text.npos);
  CHECK(text.find("<path fill-opacity=\"0.5\" d=\"M2 0h1v1h-1z\"/>") != text.npos);
  CHECK(occurrences(text, "<path") == 2);
  picture.cells({0, 0, 1, 1}, {}, 0, "#000000");
  CHECK(picture.svg() == text);
}

TEST_CASE("svg: a cell that is not finite has no shade") {
  const Picture empty(10, 10, "cells");
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Picture picture(10, 10, "cells");
    const std::vector<float> values{0.5f, value};
    CHECK_THROWS_AS(picture.cells({0, 0, 1, 1}, values, 2, "#000000"), imbrex::Error);
    CHECK(picture.svg() == empty.svg());
  }
}

TEST_CASE("svg: ticks stand at round numbers, or at powers of ten") {
  using Marks = std::vector<double>;
  CHECK(ChartAxis{"", 0, 1}.marks().size() == 6);  // 0, 0.2, ... 1
  CHECK(ChartAxis{"", 0, 10}.marks() == Marks{0, 2, 4, 6, 8, 10});
  CHECK(ChartAxis{"", -1, 1}.marks().size() == 11);
  CHECK(ChartAxis{"", 5, 48}.marks() == Marks{5, 10, 15, 20, 25, 30, 35, 40, 45});
  CHECK(ChartAxis{"", 1, 1000, true}.marks() == Marks{1, 10, 100, 1000});
  CHECK(ChartAxis{"", 16, 256, true, {16, 64, 256}}.marks() == Marks{16, 64, 256});
  CHECK(Chart::tick(0.2 * 3) == "0.6");
  CHECK(Chart::tick(100000) == "100000");
}

TEST_CASE("svg: a chart places points by its axes") {
  Picture picture(200, 200, "chart");
  const Chart chart(picture, {50, 20, 100, 100}, "t", {"x", 1, 100, true}, {"y", -1, 1});
  CHECK(chart.at({1, -1}).x == doctest::Approx(50));
  CHECK(chart.at({10, 0}).x == doctest::Approx(100));
  CHECK(chart.at({10, 0}).y == doctest::Approx(70));
  CHECK(chart.at({100, 1}).y == doctest::Approx(20));
  CHECK(XmlCheck::problem(picture.svg()) == "");
}

TEST_CASE("svg: a file is written whole or not at all") {
  const ScratchDirectory directory;
  const Picture picture(10, 10, "file");
  picture.write(directory / "a.svg");
  std::ifstream file(directory / "a.svg", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == picture.svg());
  CHECK_THROWS_AS(picture.write(directory / "missing/a.svg"), imbrex::FormatError);
  CHECK(!std::filesystem::exists(directory / "missing"));
}
