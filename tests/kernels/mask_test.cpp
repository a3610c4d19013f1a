#include "imbrex/kernels/mask.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

using namespace imbrex;

namespace {

constexpr KeyRange none{0, 0};

// The definition, key by key, in the words of the papers: i sees j.
bool sees(Mask mask, index_t i, index_t j, index_t queries, index_t keys) {
  const index_t position = i + keys - queries;
  switch (mask.kind()) {
    case Mask::Kind::none:
    case Mask::Kind::cross:
      return true;
    case Mask::Kind::causal:
      return j <= position;
    case Mask::Kind::window:
      return j <= position && position - mask.size() < j;
    case Mask::Kind::prefix:
      return j <= position || j < mask.size();
  }
  return false;
}

// A square causal mask, and the bottom-right corner with keys cached before (candle#3437).
static_assert(Mask::causal().visible(0, 3, 3) == KeyRange{0, 1});
static_assert(Mask::causal().visible(2, 3, 3) == KeyRange{0, 3});
static_assert(Mask::causal().visible(0, 2, 7) == KeyRange{0, 6});
// More queries than keys: the first ones stand before every key.
static_assert(Mask::causal().visible(1, 4, 2) == none);
static_assert(Mask::causal().visible(2, 4, 2) == KeyRange{0, 1});
// A window of W shows min(p + 1, W) keys, not W + 1 (mlx-lm#390).
static_assert(Mask::window(1).visible(5, 8, 8) == KeyRange{5, 6});
static_assert(Mask::window(2).visible(0, 8, 8) == KeyRange{0, 1});
static_assert(Mask::window(2).visible(5, 8, 8) == KeyRange{4, 6});
static_assert(Mask::window(0).visible(5, 8, 8) == none);
static_assert(Mask::prefix(4).visible(0, 8, 8) == KeyRange{0, 4});
static_assert(Mask::prefix(4).visible(6, 8, 8) == KeyRange{0, 7});
static_assert(Mask::prefix(40).visible(6, 8, 8) == KeyRange{0, 8});
static_assert(Mask::none().visible(0, 1, 0) == none);
static_assert(Mask() == Mask::none());

// No arithmetic overflows, however large the window.
constexpr index_t huge = std::numeric_limits<index_t>::max();
static_assert(Mask::window(huge).visible(0, 5, 3) == none);
static_assert(Mask::window(huge).visible(4, 5, 3) == KeyRange{0, 3});

}  // namespace

TEST_CASE("a mask's interval holds exactly the keys of its definition") {
  for (const Mask mask :
       {Mask::none(), Mask::cross(), Mask::causal(), Mask::window(1), Mask::window(2),
        Mask::window(5), Mask::window(100), Mask::prefix(0), Mask::prefix(3), Mask::prefix(100)}) {
    for (index_t queries = 0; queries <= 9; ++queries) {
      for (index_t keys = 0; keys <= 9; ++keys) {
        KeyRange before{0, 0};
        for (index_t i = 0; i < queries; ++i) {
          const KeyRange range = mask.visible(i, queries, keys);
          CHECK(0 <= range.first);
          CHECK(range.first <= range.last);
          CHECK(range.last <= keys);
          for (index_t j = 0; j < keys; ++j) {
            CHECK((range.first <= j && j < range.last) == sees(mask, i, j, queries, keys));
          }
          CHECK(before.first <= range.first);
          CHECK(before.last <= range.last);
          before = range;
        }
      }
    }
  }
}
