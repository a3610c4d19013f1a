// Finding the tokens that are text of their own (special and user-defined ones) before the rest is
// cut into pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/index.hpp"
#include "imbrex/text/vocabulary.hpp"

namespace imbrex::text::inline IMBREX_ABI {

/// A stretch of text: a token's, or plain text where `id` is `no_token`.
struct Fragment {
  std::size_t begin, bytes;
  token_t id;
};

/// Texts of tokens, to find the longest that a text begins with.
class TokenPrefixes {
 public:
  /// An empty text is not kept; of equal texts the one with the lowest id is.
  void add(std::string_view text, token_t id) {
    if (!text.empty()) entries_.push_back({std::string(text), id, none});
  }

  /// After the last `add`.
  void sort() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.text != b.text ? a.text < b.text : a.id < b.id;
    });
    const auto equal = [](const Entry& a, const Entry& b) { return a.text == b.text; };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), equal), entries_.end());
    // In sorted order a text's longest prefix is the entry before it, or a prefix of that entry.
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      std::size_t shorter = i - 1;
      while (shorter != none && !entries_[i].text.starts_with(entries_[shorter].text)) {
        shorter = entries_[shorter].prefix;
      }
      entries_[i].prefix = shorter;
    }
  }

  bool empty() const { return entries_.empty(); }

  /// The longest entry that `text` begins with, as a fragment at `begin`; `no_token` without one.
  Fragment longest(std::string_view text, std::size_t begin) const {
    const auto after =
        std::upper_bound(entries_.begin(), entries_.end(), text,
                         [](std::string_view t, const Entry& e) { return t < e.text; });
    // Any entry that is a prefix of `text` is the last one not after it, or a prefix of that one.
    std::size_t at =
        after == entries_.begin() ? none : static_cast<std::size_t>(after - entries_.begin()) - 1;
    if (at == none) return {begin, 0, no_token};
    const std::string& nearest = entries_[at].text;
    const auto differ = std::mismatch(text.begin(), text.end(), nearest.begin(), nearest.end());
    const auto common = static_cast<std::size_t>(differ.first - text.begin());
    while (at != none && entries_[at].text.size() > common) at = entries_[at].prefix;
    if (at == none) return {begin, 0, no_token};
    return {begin, entries_[at].text.size(), entries_[at].id};
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct Entry {
    std::string text;
    token_t id;
    std::size_t prefix;  // the longest other entry that `text` begins with
  };

  std::vector<Entry> entries_;
};

/// The added tokens of a vocabulary. Immutable.
///
/// The longest token is taken first wherever it stands in the text, then the next longest in what
/// is left, and so on; of equal length, the lower id; of equal tokens, the leftmost. This is the
/// order of llama.cpp. (A search from left to right would cut "abcd" with the tokens "ab" and
/// "bcd" into "ab" and "cd"; this one makes it "a" and "bcd".)
class AddedTokens {
 public:
  explicit AddedTokens(const Vocabulary& vocabulary) {
    for (token_t id = 0; id < vocabulary.size(); ++id) {
      const TokenType type = vocabulary.type(id);
      const bool special = type == TokenType::control || type == TokenType::unknown;
      if (!special && type != TokenType::user_defined) continue;
      all_.add(vocabulary.text(id), id);
      if (!special) plain_.add(vocabulary.text(id), id);
    }
    all_.sort();
    plain_.sort();
  }

  /// Cuts text at the added tokens, those of control only where `special` is true. Takes memory in
  /// proportion to the text, however many tokens overlap in it.
  std::vector<Fragment> partition(std::string_view text, bool special) const {
    std::vector<Fragment> taken = choose(special ? all_ : plain_, text);
    std::sort(taken.begin(), taken.end(),
              [](const Fragment& a, const Fragment& b) { return a.begin < b.begin; });
    std::vector<Fragment> fragments;
    std::size_t done = 0;
    for (const Fragment& token : taken) {
      if (token.begin > done) fragments.push_back({done, token.begin - done, no_token});
      fragments.push_back(token);
      done = token.begin + token.bytes;
    }
    if (done < text.size()) fragments.push_back({done, text.size() - done, no_token});
    return fragments;
  }

 private:
  /// Whether b is taken before a.
  struct Later {
    bool operator()(const Fragment& a, const Fragment& b) const {
      if (a.bytes != b.bytes) return a.bytes < b.bytes;
      return a.id != b.id ? a.id > b.id : a.begin > b.begin;
    }
  };

  /// The tokens that are taken: by length, id and place, each where no earlier one lies.
  ///
  /// One candidate waits for each place: the longest that fits in front of what is taken. Where its
  /// end was taken meanwhile, a shorter one follows. The taker is at least as long as it and begins
  /// inside it, so the room at the place has halved: a place is looked at a logarithmic number of
  /// times.
  static std::vector<Fragment> choose(const TokenPrefixes& tokens, std::string_view text) {
    std::vector<Fragment> taken;
    if (tokens.empty()) return taken;
    std::vector<Fragment> places;
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      const Fragment f = tokens.longest(text.substr(begin), begin);
      if (f.id != no_token) places.push_back(f);
    }
    std::priority_queue<Fragment, std::vector<Fragment>, Later> waiting(Later{}, std::move(places));
    std::vector<bool> used(waiting.empty() ? 0 : text.size());
    while (!waiting.empty()) {
      Fragment f = waiting.top();
      waiting.pop();
      const auto begin = used.begin() + static_cast<std::ptrdiff_t>(f.begin);
      const auto end = begin + static_cast<std::ptrdiff_t>(f.bytes);
      // What was taken before is at least as long: an overlap covers one of the two ends.
      if (*begin) continue;
      if (*(end - 1)) {
        const auto room = static_cast<std::size_t>(std::find(begin, end, true) - begin);
        f = tokens.longest(text.substr(f.begin, room), f.begin);
        if (f.id != no_token) waiting.push(f);
        continue;
      }
      std::fill(begin, end, true);
      taken.push_back(f);
    }
    return taken;
  }

  TokenPrefixes all_, plain_;
};

}  // namespace imbrex::text::inline IMBREX_ABI
