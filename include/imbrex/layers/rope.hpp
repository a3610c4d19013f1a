// Rotary positions (Su et al.: "RoFormer", 2021).
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "imbrex/kernels/rope.hpp"
#include "imbrex/layers/operand.hpp"
#include "imbrex/layers/row_positions.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Turns pairs of elements of each head by position times frequency, so that the inner product of a
/// query at m and a key at n depends on n - m alone. D is the axis of a head's elements; elements
/// past the rotating ones (twice the number of frequencies) stay as they are.
template <class D>
class Rope {
 public:
  /// `frequencies`: radians per position, one for each pair. Throws ShapeError where D is static
  /// and too small for them, ConfigError where there are no such pairs, or a number is not finite
  /// (of a theta and a factor that are both tiny, say): its pairs would be NaN at every position.
  explicit Rope(std::vector<float> frequencies, RopePairs pairs = RopePairs::interleaved,
                float magnitude = 1)
      : frequencies_(std::move(frequencies)), pairs_(pairs), magnitude_(magnitude) {
    check_width(D::static_size);
    if (pairs > RopePairs::half) {
      raise(ConfigError("rope.pairs", std::to_string(static_cast<int>(pairs)), "0 or 1"));
    }
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      if (std::isfinite(frequencies_[i])) continue;
      fail_number("rope frequency " + std::to_string(i), frequencies_[i]);
    }
    if (!std::isfinite(magnitude)) fail_number("rope magnitude", magnitude);
  }

  /// Turns x[Time, A, D] in place, row t by positions[t]; A is Heads or KvHeads. Heads and rows may
  /// lie anywhere, the elements of a head next to each other, and so must positions. Throws
  /// ShapeError before it writes.
  template <TensorLike X, TensorLike P>
  void turn(X&& x, const P& positions) const {
    static_assert(axes_agree<axes_of<X>, Axes<Time<>, heads_axis<X>, D>>,
                  "rope.turn(x, positions): x must have the axes Time, Heads or KvHeads, and the "
                  "layer's HeadDim");
    static_assert(are_positions<P>,
                  "rope.turn(x, positions): positions must be index_t with the axis Time alone");
    turn_heads(MutableOperand::of(x), as_positions(positions));
  }

  /// How many elements of a head turn.
  index_t rotary_dims() const { return 2 * static_cast<index_t>(frequencies_.size()); }
  const std::vector<float>& frequencies() const { return frequencies_; }
  RopePairs pairs() const { return pairs_; }
  float magnitude() const { return magnitude_; }

 private:
  /// The second axis of X, or one like it where X has not so many.
  template <class X>
  using heads_axis = axis_at<1, join<axes_of<X>, Axes<Heads<>, Heads<>>>>;

  void turn_heads(const MutableOperand& x, const RowPositions& positions) const {
    check_width(make_axis<D>(x.sizes[2]).size());
    if (positions.size(0) != x.sizes[0]) {
      const index_t given = positions.size(0);
      fail<ShapeError>("rope.turn(x, positions): there must be one position for each row of x",
                       x.ref("x"), {"positions", positions.shape().names(), &given, 1});
    }
    kernels::rope(as_heads(x), positions.data(), frequencies_.data(), rotary_dims(), pairs_,
                  magnitude_);
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void fail_number(std::string key, float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    raise(ConfigError(std::move(key), text, "a finite number"));
  }

  void check_width(index_t head_dim) const {
    if (head_dim == dyn || rotary_dims() <= head_dim) return;
    const index_t sizes[] = {head_dim, rotary_dims()};
    const char* names[] = {D::name, "rotating"};
    fail<ShapeError>("rope: the head must have room for all rotating elements",
                     {"", names, sizes, 2});
  }

  std::vector<float> frequencies_;
  RopePairs pairs_;
  float magnitude_;
};

}  // namespace imbrex::inline IMBREX_ABI
