// Which keys a query may see. A mask is a value; attention has one kernel for all of them.
#pragma once

#include <cstdint>

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Keys [first, last). Empty where first == last.
struct KeyRange {
  index_t first, last;

  friend constexpr bool operator==(KeyRange, KeyRange) = default;
};

/// The visible keys of each query, always one interval. With Tq queries and Tk keys, query i stands
/// at key position p = i + (Tk - Tq): the last query faces the last key (the "bottom-right"
/// corner), so that a chunk of new tokens sees the keys cached before it. Where Tk < Tq the first
/// queries stand before every key, and causally see none.
///
///     none, cross   all keys (cross: the keys belong to another sequence)
///     causal        j <= p
///     window(W)     p - W < j <= p: min(p + 1, W) keys, itself included (Mistral, Gemma)
///     prefix(P)     j < P or j <= p: a prefix all queries see, causal after it (prefix LM)
class Mask {
 public:
  enum class Kind : std::uint8_t { none, causal, window, prefix, cross };

  /// The masks, by name. `keys` is the W of a window, the P of a prefix.
  constexpr Mask() = default;  ///< none
  static constexpr Mask none() { return {Kind::none, 0}; }
  static constexpr Mask causal() { return {Kind::causal, 0}; }
  static constexpr Mask window(index_t keys) { return {Kind::window, keys}; }
  static constexpr Mask prefix(index_t keys) { return {Kind::prefix, keys}; }
  static constexpr Mask cross() { return {Kind::cross, 0}; }

  /// Which of them this is.
  constexpr Kind kind() const { return kind_; }
  /// The W of a window, the P of a prefix; 0 otherwise.
  constexpr index_t size() const { return size_; }

  /// The keys that query `i` of `queries` sees among `keys` keys. Neither end decreases with i,
  /// except that empty ranges may be written {0, 0}.
  constexpr KeyRange visible(index_t i, index_t queries, index_t keys) const {
    if (kind_ == Kind::none || kind_ == Kind::cross) return {0, keys};
    const index_t position = i + (keys - queries);
    const index_t causal_last = greater(position + 1, 0);
    if (kind_ == Kind::causal) return {0, causal_last};
    if (kind_ == Kind::prefix) return {0, greater(causal_last, lesser(greater(size_, 0), keys))};
    if (position < 0 || size_ <= 0) return {0, 0};
    return {size_ > position ? 0 : position - size_ + 1, causal_last};
  }

  friend constexpr bool operator==(Mask, Mask) = default;

 private:
  constexpr Mask(Kind kind, index_t size) : kind_(kind), size_(size) {}

  Kind kind_ = Kind::none;
  index_t size_ = 0;
};

}  // namespace imbrex::inline IMBREX_ABI
