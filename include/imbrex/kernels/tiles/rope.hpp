// Some pairs of one head, turned.
#pragma once

#include <cmath>

#include "imbrex/base/rope_pairs.hpp"
#include "imbrex/kernels/tiles/lanes.hpp"

namespace imbrex::kernels::tiles {

/// Cosines and sines of the pairs [first, first + count) of one position.
struct Turns {
  static constexpr index_t capacity = 64;  // all pairs of a head of 128; wider ones take several

  index_t first = 0, count = 0;
  float cosines[capacity], sines[capacity];
};

/// In double up to the rounding of the cosines and sines.
inline Turns turns_of(double position, const float* frequencies, index_t first, index_t count,
                      float magnitude) {
  Turns turns;
  turns.first = first;
  turns.count = count;
  for (index_t k = 0; k < count; ++k) {
    const double angle = position * static_cast<double>(frequencies[first + k]);
    turns.cosines[k] = static_cast<float>(std::cos(angle)) * magnitude;
    turns.sines[k] = static_cast<float>(std::sin(angle)) * magnitude;
  }
  return turns;
}

/// Turns those pairs of a head of which `rotary_dims` components rotate.
inline void turn(float* head, const Turns& turns, index_t rotary_dims, RopePairs pairs) {
  if (pairs == RopePairs::interleaved) {
    float* x = head + 2 * turns.first;
    for (index_t k = 0; k < turns.count; ++k) {
      const float a = x[2 * k], b = x[2 * k + 1], c = turns.cosines[k], s = turns.sines[k];
      x[2 * k] = a * c - b * s;
      x[2 * k + 1] = a * s + b * c;
    }
    return;
  }
  float* x = head + turns.first;
  float* y = x + rotary_dims / 2;
  index_t k = 0;
  for (; k + lane_count <= turns.count; k += lane_count) {
    const Lanes a = load(x + k), b = load(y + k);
    const Lanes c = load(turns.cosines + k), s = load(turns.sines + k);
    store(x + k, a * c - b * s);
    store(y + k, a * s + b * c);
  }
  for (; k < turns.count; ++k) {
    const float a = x[k], b = y[k], c = turns.cosines[k], s = turns.sines[k];
    x[k] = a * c - b * s;
    y[k] = a * s + b * c;
  }
}

}  // namespace imbrex::kernels::tiles
