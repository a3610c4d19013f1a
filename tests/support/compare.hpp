// Helpers of the numeric tests: random operands, and comparison that says which element is worst.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "imbrex/base/index.hpp"
#include "imbrex/base/random.hpp"

namespace imbrex::tests {

/// Half the distance from 1 to the next float: the largest relative error of one rounding.
inline constexpr double unit_roundoff = 0x1p-24;

/// Uniform numbers in [low, high).
inline std::vector<float> uniform(index_t n, std::uint64_t seed, float low = -1, float high = 1) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = low + (high - low) * random.uniform();
  return values;
}

/// Empty where |got[i] - want[i]| <= allowed(i) for every i (two NaN agree, and two equal
/// infinities); else a line with the element that is the most times too far off. For
/// CHECK(worst_difference(...) == "").
template <class Allowed>
std::string worst_difference(const float* got, const float* want, index_t n, Allowed allowed) {
  index_t worst = -1;
  double worst_ratio = 1;
  for (index_t i = 0; i < n; ++i) {
    const double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double ratio = std::abs(g - w) / allowed(i);
    if (ratio <= worst_ratio) continue;  // false for a NaN, which nothing is worse than
    worst = i;
    worst_ratio = ratio;
    if (std::isnan(ratio)) break;
  }
  if (worst < 0) return "";
  std::ostringstream text;
  text.precision(9);
  text << "element " << worst << " of " << n << ": got " << got[worst] << ", expected "
       << want[worst] << ", off by " << got[worst] - want[worst] << ", allowed " << allowed(worst);
  return text.str();
}

inline std::string worst_difference(const std::vector<float>& got, const std::vector<float>& want,
                                    double allowed) {
  if (got.size() != want.size()) return "sizes differ";
  return worst_difference(got.data(), want.data(), static_cast<index_t>(got.size()),
                          [allowed](index_t) { return allowed; });
}

/// Empty where the bits agree; else the first place where they do not.
inline std::string different_bits(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size()) return "sizes differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(float)) == 0) continue;
    std::ostringstream text;
    text.precision(9);
    text << "element " << i << " of " << got.size() << ": " << got[i] << " and " << want[i];
    return text.str();
  }
  return "";
}

}  // namespace imbrex::tests
