// Pictures as SVG, for the programs that draw.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/printable.hpp"
#include "imbrex/formats/file_replacement.hpp"

namespace examples {

struct Point {
  double x, y;
};

struct Box {
  double x, y, width, height;
};

inline constexpr std::string_view ink = "#222222", faint = "#cccccc";

/// Colours that stay apart for colour-blind eyes (Okabe, Ito 2008).
inline constexpr std::string_view colours[] = {"#0072b2", "#d55e00", "#009e73",
                                               "#cc79a7", "#e69f00", "#56b4e9"};

struct Stroke {
  std::string_view colour = ink;
  double width = 1;
  std::string_view dashes = "";  ///< "4 3": 4 drawn, 3 left out
};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 12;
  Anchor anchor = Anchor::start;
  double turn = 0;  ///< degrees, clockwise
  std::string_view colour = ink;
};

/// A picture in user units, x to the right and y down, on a white ground: readable in light and in
/// dark viewers. The same calls give the same bytes on every platform and in every locale.
class Picture {
 public:
  Picture(double width, double height, std::string_view title) : width_(width), height_(height) {
    body_ = "<title>" + escaped(title) + "</title>\n";
    rectangle({0, 0, width, height}, "#ffffff");
  }

  void rectangle(const Box& box, std::string_view fill, const Stroke& edge = {"none"}) {
    add("<rect", {{"x", box.x}, {"y", box.y}, {"width", box.width}, {"height", box.height}});
    body_ += " fill=\"" + escaped(fill) + "\"" + attributes(edge) + "/>\n";
  }

  void line(Point from, Point to, const Stroke& stroke = {}) {
    add("<line", {{"x1", from.x}, {"y1", from.y}, {"x2", to.x}, {"y2", to.y}});
    body_ += attributes(stroke) + "/>\n";
  }

  void polyline(std::span<const Point> points, const Stroke& stroke = {}) {
    body_ += "<polyline points=\"";
    for (const Point& p : points) {
      if (&p != points.data()) body_ += ' ';
      body_ += number(p.x) + "," + number(p.y);
    }
    body_ += "\" fill=\"none\"" + attributes(stroke) + "/>\n";
  }

  void dot(Point at, double radius, std::string_view fill) {
    add("<circle", {{"cx", at.x}, {"cy", at.y}, {"r", radius}});
    body_ += " fill=\"" + escaped(fill) + "\"/>\n";
  }

  /// Text whose base line begins, has its middle or ends at a point.
  void text(Point at, std::string_view words, const TextStyle& style = {}) {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    add("<text", {{"x", at.x}, {"y", at.y}, {"font-size", style.size}});
    body_ += std::string(" text-anchor=\"") + anchors[static_cast<int>(style.anchor)] + "\"";
    body_ += " fill=\"" + escaped(style.colour) + "\"";
    if (style.turn != 0) {
      body_ += " transform=\"rotate(" + number(style.turn) + " " + number(at.x) + " " +
               number(at.y) + ")\"";
    }
    body_ += ">" + escaped(words) + "</text>\n";
  }

  /// A matrix of numbers from 0 (the ground) to 1 (the colour), row after row from the top, in ten
  /// shades. A shade is one element of the file, and runs of equal cells are one piece of it.
  /// Throws Error for what is no number.
  void cells(const Box& box, std::span<const float> values, std::size_t columns,
             std::string_view colour) {
    constexpr int shades = 10;
    const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
    if (rows == 0) return;
    for (const float value : values) {
      if (!std::isfinite(value)) imbrex::raise(imbrex::Error("picture: a cell is not finite"));
    }
    const auto shade_of = [&](std::size_t i) {
      return static_cast<int>(std::lround(std::clamp(values[i], 0.0f, 1.0f) * shades));
    };
    std::string paths[shades + 1];
    for (std::size_t i = 0; i < rows * columns;) {
      const std::size_t row_end = (i / columns + 1) * columns, first = i;
      while (++i < row_end && shade_of(i) == shade_of(first)) {
      }
      const std::string run = std::to_string(i - first);
      paths[shade_of(first)] += "M" + std::to_string(first % columns) + " " +
                                std::to_string(first / columns) + "h" + run + "v1h-" + run + "z";
    }
    body_ += "<g transform=\"translate(" + number(box.x) + " " + number(box.y) + ") scale(" +
             number(box.width / static_cast<double>(columns), 6) + " " +
             number(box.height / static_cast<double>(rows), 6) + ")\" fill=\"" + escaped(colour) +
             "\" shape-rendering=\"crispEdges\">\n";
    for (int s = 1; s <= shades; ++s) {
      if (paths[s].empty()) continue;
      const std::string opacity = number(static_cast<double>(s) / shades);
      body_ += "<path fill-opacity=\"" + opacity + "\" d=\"" + paths[s] + "\"/>\n";
    }
    body_ += "</g>\n";
  }

  /// The whole file.
  std::string svg() const {
    const std::string w = number(width_), h = number(height_);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
           "\" viewBox=\"0 0 " + w + " " + h +
           "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n" + body_ + "</svg>\n";
  }

  /// Writes the file, whole or not at all. Throws FormatError.
  void write(const std::string& path) const {
    const std::string text = svg();
    imbrex::FileReplacement file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }

  /// "12.5": at most `digits` behind the point. Throws Error for what is no number.
  static std::string number(double x, int digits = 2) {
    if (!std::isfinite(x)) imbrex::raise(imbrex::Error("picture: a coordinate is not finite"));
    char text[400];  // the largest double has 309 digits before the point
    const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::fixed, digits);
    std::string result(text, end.ptr);
    if (digits > 0) result.erase(result.find_last_not_of('0') + 1);
    if (result.back() == '.') result.pop_back();
    return result == "-0" ? "0" : result;
  }

  /// Any bytes as the text of an element or attribute.
  static std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : imbrex::printable(text, text.size())) {
      switch (c) {
        case '&':
          result += "&amp;";
          break;
        case '<':
          result += "&lt;";
          break;
        case '>':
          result += "&gt;";
          break;
        case '"':
          result += "&quot;";
          break;
        default:
          result += c;
      }
    }
    // U+FFFE and U+FFFF are characters of UTF-8, but not of XML.
    for (const std::string_view no_xml : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
      for (std::size_t at; (at = result.find(no_xml)) != result.npos; result[at] = '?') {
        result.erase(at + 1, 2);
      }
    }
    return result;
  }

 private:
  struct Attribute {
    const char* name;
    double value;
  };

  void add(const char* element, std::initializer_list<Attribute> list) {
    body_ += element;
    for (const Attribute& a : list) {
      body_ += std::string(" ") + a.name + "=\"" + number(a.value) + "\"";
    }
  }

  static std::string attributes(const Stroke& stroke) {
    if (stroke.colour == "none") return "";
    std::string text = " stroke=\"" + escaped(stroke.colour) + "\"";
    if (stroke.width != 1) text += " stroke-width=\"" + number(stroke.width) + "\"";
    if (!stroke.dashes.empty()) text += " stroke-dasharray=\"" + escaped(stroke.dashes) + "\"";
    return text;
  }

  double width_, height_;
  std::string body_;
};

/// One axis of a chart.
struct ChartAxis {
  std::string label;
  double low, high;
  bool logarithmic = false;
  std::vector<double> ticks = {};  ///< none: at round numbers, or at powers of ten

  /// Where a value lies, from 0 at the low end to 1 at the high one.
  double place(double value) const {
    if (!logarithmic) return (value - low) / (high - low);
    return std::log(value / low) / std::log(high / low);
  }

  std::vector<double> marks() const {
    if (!ticks.empty()) return ticks;
    std::vector<double> result;
    if (logarithmic) {
      for (double exponent = std::ceil(std::log10(low) - 1e-9); exponent <= std::log10(high) + 1e-9;
           ++exponent) {
        result.push_back(std::pow(10, exponent));
      }
      return result;
    }
    // Steps of 1, 2 or 5 times a power of ten: five of them or a few more.
    double step = std::pow(10, std::floor(std::log10((high - low) / 5)));
    const double wanted = (high - low) / 5 / step;
    step *= wanted >= 5 ? 5 : wanted >= 2 ? 2 : 1;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
      result.push_back(i * step + 0.0);  // no -0
    }
    return result;
  }
};

/// A box of a picture with two axes, in which curves are drawn in their own units.
class Chart {
 public:
  /// Draws the box, ticks and labels; the labels lie outside of the box.
  Chart(Picture& picture, const Box& box, std::string_view title, ChartAxis x, ChartAxis y)
      : picture_(picture), box_(box), x_(std::move(x)), y_(std::move(y)) {
    const double right = box.x + box.width, bottom = box.y + box.height;
    for (const double value : x_.marks()) {
      const double at = box.x + x_.place(value) * box.width;
      picture_.line({at, box.y}, {at, bottom}, {faint, 0.5});
      picture_.text({at, bottom + 15}, tick(value), {11, Anchor::middle});
    }
    for (const double value : y_.marks()) {
      const double at = bottom - y_.place(value) * box.height;
      picture_.line({box.x, at}, {right, at}, {faint, 0.5});
      picture_.text({box.x - 6, at + 4}, tick(value), {11, Anchor::end});
    }
    picture_.rectangle(box, "none", {ink});
    picture_.text({box.x + box.width / 2, box.y - 9}, title, {13, Anchor::middle});
    picture_.text({box.x + box.width / 2, bottom + 32}, x_.label, {12, Anchor::middle});
    const Point side{box.x - 44, box.y + box.height / 2};
    picture_.text(side, y_.label, {12, Anchor::middle, -90});
  }

  /// Where a point of the chart's units lies in the picture.
  Point at(Point p) const {
    return {box_.x + x_.place(p.x) * box_.width,
            box_.y + box_.height - y_.place(p.y) * box_.height};
  }

  void curve(std::span<const Point> points, const Stroke& stroke) {
    std::vector<Point> placed;
    for (const Point& p : points) placed.push_back(at(p));
    picture_.polyline(placed, stroke);
  }

  /// A line of the legend, its top left corner at a part of the box's width and height.
  void legend(Point part, int line, std::string_view words, const Stroke& stroke) {
    const Point begin{box_.x + part.x * box_.width, box_.y + part.y * box_.height + 16 * line + 8};
    picture_.line(begin, {begin.x + 22, begin.y}, stroke);
    picture_.text({begin.x + 28, begin.y + 4}, words, {11});
  }

  /// The label of a tick: up to six digits, no trailing zeros.
  static std::string tick(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
    return {text, end.ptr};
  }

 private:
  Picture& picture_;
  Box box_;
  ChartAxis x_, y_;
};

}  // namespace examples
