// The frequencies of rotary positions: f_i = theta^(-2i/n), and what context extension makes of
// them.
#pragma once

#include <cmath>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/layers/rope_scaling.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace rope_detail {

inline constexpr double two_pi = 6.283185307179586;

/// Llama 3.1's rule, by the wavelength w = 2 pi / f: short ones stay, long ones are divided by the
/// factor, those between are blended.
inline double llama3_frequency(double f, const RopeScaling& s) {
  const double context = static_cast<double>(s.original_context);
  const double wavelength = two_pi / f;
  if (wavelength < context / s.high_freq_factor) return f;
  if (wavelength > context / s.low_freq_factor) return f / s.factor;
  const double smooth =
      (context / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - smooth) * f / s.factor + smooth * f;
}

/// The pair index whose frequency turns `turns` times within the original context.
inline double yarn_pair(double turns, double theta, index_t n, const RopeScaling& s) {
  return static_cast<double>(n) *
         std::log(static_cast<double>(s.original_context) / (turns * two_pi)) /
         (2 * std::log(theta));
}

/// YaRN's blend ("NTK by parts", Peng et al. 2023, section 3.2), with the ends rounded outward and
/// clamped as in its published implementation.
inline double yarn_frequency(double f, index_t i, double theta, index_t n, const RopeScaling& s) {
  const double last = static_cast<double>(n - 1);
  double low = std::floor(yarn_pair(s.beta_fast, theta, n, s));
  double high = std::ceil(yarn_pair(s.beta_slow, theta, n, s));
  low = low < 0 ? 0 : low;
  high = high > last ? last : high;
  if (low == high) high += 0.001;
  double ramp = (static_cast<double>(i) - low) / (high - low);
  ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
  return f / s.factor * ramp + f * (1 - ramp);
}

}  // namespace rope_detail

/// The n/2 frequencies, in radians per position, of n rotating elements. They are computed in
/// double and rounded once. Throws ConfigError for an odd or negative n, for a theta or factor that
/// is not positive, and for a kind of scaling that there is not.
inline std::vector<float> rope_frequencies(double theta, index_t n,
                                           const RopeScaling& scaling = {}) {
  if (n < 0 || n % 2 != 0) raise(ConfigError("rotary_dims", std::to_string(n), "an even number"));
  if (!(theta > 0)) raise(ConfigError("theta", std::to_string(theta), "a positive number"));
  if (!(scaling.factor > 0)) {
    raise(ConfigError("factor", std::to_string(scaling.factor), "a positive number"));
  }
  if (scaling.kind > RopeScalingKind::yarn) {
    raise(ConfigError("scaling.kind", std::to_string(static_cast<int>(scaling.kind)), "0 to 3"));
  }
  std::vector<float> frequencies;
  for (index_t i = 0; i < n / 2; ++i) {
    double f = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(n));
    switch (scaling.kind) {
      case RopeScalingKind::none:
        break;
      case RopeScalingKind::linear:
        f /= scaling.factor;
        break;
      case RopeScalingKind::llama3:
        f = rope_detail::llama3_frequency(f, scaling);
        break;
      case RopeScalingKind::yarn:
        f = rope_detail::yarn_frequency(f, i, theta, n, scaling);
        break;
    }
    frequencies.push_back(static_cast<float>(f));
  }
  return frequencies;
}

/// What cos and sin are multiplied by: 1 but for YaRN, whose attention temperature is
/// 0.1 ln(factor) + 1 where the configuration names no other; an explicit value replaces it.
inline float rope_magnitude(const RopeScaling& scaling) {
  if (scaling.kind != RopeScalingKind::yarn) return 1;
  if (scaling.attention_factor != 0) return static_cast<float>(scaling.attention_factor);
  return scaling.factor <= 1 ? 1.0f : static_cast<float>(0.1 * std::log(scaling.factor) + 1);
}

}  // namespace imbrex::inline IMBREX_ABI
