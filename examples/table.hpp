// What the example programs print numbers with: digits in groups, bytes in units, aligned tables.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "imbrex/base/index.hpp"

namespace examples {

/// 6,738,415,616
inline std::string grouped(imbrex::index_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && text != "-") text += ',';
    text += digits[i];
  }
  return text;
}

/// A number with `decimals` places: decimals(0.8808, 2) is 0.88.
inline std::string decimals(double x, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, x);
  return text;
}

/// 12.55 GiB; whole units without places: 512 KiB.
inline std::string in_units(imbrex::index_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double x = static_cast<double>(bytes);
  int unit = 0;
  for (; x >= 1024; ++unit) x /= 1024;
  const bool whole = x == static_cast<double>(static_cast<int>(x));
  return decimals(x, whole ? 0 : 2) + " " + units[unit];
}

/// 107.81 GB: units of a thousand.
inline std::string in_gigabytes(imbrex::index_t bytes) {
  return decimals(static_cast<double>(bytes) * 1e-9, 2) + " GB";
}

/// Rows of cells in columns as wide as their widest cell.
class Table {
 public:
  /// A letter for each column: l is aligned left, r right; those without one are r.
  explicit Table(std::string alignment = "l") : alignment_(std::move(alignment)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void print() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize((std::max)(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) {
        widths[i] = (std::max)(widths[i], row[i].size());
      }
    }
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string padding(widths[i] - row[i].size(), ' ');
        const bool left = i < alignment_.size() && alignment_[i] == 'l';
        line += (i > 0 ? "  " : "") + (left ? row[i] + padding : padding + row[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      std::printf("%s\n", line.c_str());
    }
  }

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace examples
