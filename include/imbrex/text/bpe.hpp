// Byte-pair encoding of one piece of text (Sennrich, Haddow, Birch 2016; over bytes: Radford et
// al. 2019).
//
// The pair of neighbours whose merge comes first in the list is joined, the leftmost of equals
// first, until no pair has a merge. A heap holds the candidates, a linked list the symbols: a
// piece of n bytes costs O(n log n), also where it is one run of a million spaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/text/pair_table.hpp"
#include "imbrex/text/vocabulary.hpp"

namespace imbrex::text::inline IMBREX_ABI {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
struct StringEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};

/// The merges of a vocabulary, ready to be applied. Immutable.
///
/// Symbols are numbers. A symbol below the vocabulary's size is that token; above it are bytes and
/// results of merges that are no normal token: they take part in merges like any other, and are
/// spelled byte by byte when they are left at the end.
class Bpe {
 public:
  /// Room that calls reuse.
  struct Scratch {
    struct Link {
      std::int32_t symbol, previous, next;  ///< positions; -1 where there is none
    };
    struct Candidate {
      std::uint64_t order;       ///< rank of the merge, then position of the left symbol
      std::int32_t left, right;  ///< the symbols when the candidate was made
      std::int32_t result;
    };
    std::vector<Link> links;
    std::vector<Candidate> heap;
  };

  explicit Bpe(const Vocabulary& vocabulary) : whole_pieces_(vocabulary.ignore_merges()) {
    for (token_t id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.type(id) == TokenType::normal && !vocabulary.text(id).empty()) {
        symbols_.emplace(vocabulary.text(id), id);
      }
    }
    names_ = tokens_ = static_cast<std::int32_t>(vocabulary.size());
    for (int byte = 0; byte < 256; ++byte) {
      bytes_[byte] = symbol(std::string(1, static_cast<char>(static_cast<unsigned char>(byte))));
    }
    add_merges(vocabulary.merges());
    if (!whole_pieces_) symbols_ = {};
  }

  /// Appends the tokens of one piece to `ids`. Throws TokenError where the vocabulary has no token
  /// for a byte that is left.
  void encode(std::string_view piece, Scratch& scratch, std::vector<token_t>& ids) const {
    if (whole_pieces_) {
      const auto found = symbols_.find(piece);
      if (found != symbols_.end() && found->second < tokens_) {
        ids.push_back(found->second);
        return;
      }
    }
    start(piece, scratch);
    merge(scratch);
    write(scratch, ids);
  }

 private:
  /// The number of a symbol; a new one where it has none yet.
  std::int32_t symbol(const std::string& bytes) {
    const auto [place, added] = symbols_.try_emplace(bytes, names_);
    if (added) {
      spellings_.push_back(bytes);
      ++names_;
    }
    return place->second;
  }

  void add_merges(const std::vector<Merge>& merges) {
    pairs_.reserve(merges.size());
    std::uint32_t rank = 0;
    for (const Merge& merge : merges) {
      const std::int32_t left = symbol(merge.left), right = symbol(merge.right);
      pairs_.insert(left, right, {rank++, symbol(merge.left + merge.right)});
    }
  }

  void start(std::string_view piece, Scratch& scratch) const {
    scratch.links.clear();
    scratch.heap.clear();
    const std::int32_t n = static_cast<std::int32_t>(piece.size());
    for (std::int32_t i = 0; i < n; ++i) {
      const unsigned char byte = static_cast<unsigned char>(piece[static_cast<std::size_t>(i)]);
      scratch.links.push_back({bytes_[byte], i - 1, i + 1 < n ? i + 1 : -1});
    }
    for (std::int32_t i = 0; i + 1 < n; ++i) propose(scratch, i);
    std::make_heap(scratch.heap.begin(), scratch.heap.end(), later);
  }

  /// Adds the pair that starts at `position` to the end of the candidates; false where it has no
  /// merge.
  bool propose(Scratch& scratch, std::int32_t position) const {
    const Scratch::Link& left = scratch.links[static_cast<std::size_t>(position)];
    const Scratch::Link& right = scratch.links[static_cast<std::size_t>(left.next)];
    const PairTable::Value* found = pairs_.find(left.symbol, right.symbol);
    if (found == nullptr) return false;
    const std::uint64_t order =
        (std::uint64_t{found->rank} << 32) | static_cast<std::uint32_t>(position);
    scratch.heap.push_back({order, left.symbol, right.symbol, found->result});
    return true;
  }

  void merge(Scratch& scratch) const {
    while (!scratch.heap.empty()) {
      std::pop_heap(scratch.heap.begin(), scratch.heap.end(), later);
      const Scratch::Candidate best = scratch.heap.back();
      scratch.heap.pop_back();
      const std::int32_t at = static_cast<std::int32_t>(best.order & 0xFFFFFFFFu);
      Scratch::Link& left = scratch.links[static_cast<std::size_t>(at)];
      if (left.symbol != best.left || left.next < 0) continue;  // joined to something meanwhile
      Scratch::Link& right = scratch.links[static_cast<std::size_t>(left.next)];
      if (right.symbol != best.right) continue;
      left.symbol = best.result;
      right.symbol = gone;
      left.next = right.next;
      if (left.next >= 0) scratch.links[static_cast<std::size_t>(left.next)].previous = at;
      if (left.previous >= 0 && propose(scratch, left.previous)) sift(scratch);
      if (left.next >= 0 && propose(scratch, at)) sift(scratch);
    }
  }

  void write(const Scratch& scratch, std::vector<token_t>& ids) const {
    for (std::int32_t i = scratch.links.empty() ? -1 : 0; i >= 0;) {
      const Scratch::Link& link = scratch.links[static_cast<std::size_t>(i)];
      if (link.symbol < tokens_) {
        ids.push_back(link.symbol);
      } else {
        spell(link.symbol, ids);
      }
      i = link.next;
    }
  }

  /// Appends the tokens of the bytes of a symbol that is no token.
  void spell(std::int32_t symbol, std::vector<token_t>& ids) const {
    for (const char c : spellings_[static_cast<std::size_t>(symbol - tokens_)]) {
      const unsigned byte = static_cast<unsigned char>(c);
      if (bytes_[byte] >= tokens_) {
        constexpr const char* digits = "0123456789ABCDEF";
        raise(TokenError(std::string("the vocabulary has no token for the byte 0x") +
                         digits[byte >> 4] + digits[byte & 15]));
      }
      ids.push_back(bytes_[byte]);
    }
  }

  static void sift(Scratch& scratch) {
    std::push_heap(scratch.heap.begin(), scratch.heap.end(), later);
  }

  /// Heaps of the standard library keep the largest on top: the candidate with the lowest order.
  static bool later(const Scratch::Candidate& a, const Scratch::Candidate& b) {
    return a.order > b.order;
  }

  static constexpr std::int32_t gone = -1;

  bool whole_pieces_;
  std::int32_t tokens_ = 0, names_ = 0;
  std::int32_t bytes_[256] = {};
  std::vector<std::string> spellings_;  // of the symbols from tokens_ on
  std::unordered_map<std::string, std::int32_t, StringHash, StringEqual> symbols_;
  PairTable pairs_;
};

}  // namespace imbrex::text::inline IMBREX_ABI
