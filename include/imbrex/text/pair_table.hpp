// A hash table from pairs of symbols to merges, laid out flat: the inner loop of byte-pair encoding
// does little else than look up here.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "imbrex/base/version.hpp"

namespace imbrex::text::inline IMBREX_ABI {

/// Pairs of symbol numbers (0 or more) and what they merge to. Open addressing, linear probing,
/// at most half full.
class PairTable {
 public:
  struct Value {
    std::uint32_t rank;
    std::int32_t result;
  };

  /// Makes room for `pairs` pairs. Before any insert.
  void reserve(std::size_t pairs) { slots_.assign(std::bit_ceil(2 * pairs + 2), Slot{empty, {}}); }

  /// Adds a pair; one that is there already keeps its first value. Not more pairs than reserved.
  void insert(std::int32_t left, std::int32_t right, Value value) {
    Slot& slot = slots_[place(key(left, right))];
    if (slot.key == empty) slot = {key(left, right), value};
  }

  /// What the pair merges to; null where it does not.
  const Value* find(std::int32_t left, std::int32_t right) const {
    const Slot& slot = slots_[place(key(left, right))];
    return slot.key == empty ? nullptr : &slot.value;
  }

 private:
  struct Slot {
    std::uint64_t key;
    Value value;
  };

  static constexpr std::uint64_t empty = ~std::uint64_t{0};  // no pair: symbols are not negative

  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) |
           static_cast<std::uint32_t>(right);
  }

  /// The slot that holds the key, or the empty one where it belongs.
  std::size_t place(std::uint64_t wanted) const {
    const std::size_t mask = slots_.size() - 1;
    // Fibonacci hashing: the upper half of the product depends on all bits of the key.
    std::size_t at = static_cast<std::size_t>((wanted * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (slots_[at].key != empty && slots_[at].key != wanted) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(2, Slot{empty, {}});
};

}  // namespace imbrex::text::inline IMBREX_ABI
