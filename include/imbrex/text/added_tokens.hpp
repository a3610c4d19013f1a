// Finding the tokens that are text of their own (special and user-defined ones) before the rest is
// cut into pieces.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "imbrex/base/index.hpp"
#include "imbrex/text/vocabulary.hpp"

namespace imbrex::text::inline IMBREX_ABI {

/// A stretch of text: a token's, or plain text where `id` is `no_token`.
struct Fragment {
  std::size_t begin, bytes;
  token_t id;
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
      entries_.push_back({std::string(vocabulary.text(id)), id, special});
    }
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.text != b.text ? a.text < b.text : a.id < b.id;
    });
  }

  /// Cuts text at the added tokens, those of control only where `special` is true.
  std::vector<Fragment> partition(std::string_view text, bool special) const {
    std::vector<Fragment> taken = choose(occurrences(text, special), text.size());
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
  struct Entry {
    std::string text;
    token_t id;
    bool special;
  };

  /// Every place where a token stands, overlapping ones too.
  std::vector<Fragment> occurrences(std::string_view text, bool special) const {
    std::vector<Fragment> found;
    if (entries_.empty()) return found;
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      // The entries that agree with the text so far are neighbours in sorted order.
      auto first = entries_.begin(), last = entries_.end();
      for (std::size_t n = 0; begin + n < text.size(); ++n) {
        const unsigned char next = static_cast<unsigned char>(text[begin + n]);
        const auto byte = [n](const Entry& e) { return static_cast<unsigned char>(e.text[n]); };
        first = std::partition_point(
            first, last, [&](const Entry& e) { return e.text.size() <= n || byte(e) < next; });
        last = std::partition_point(first, last, [&](const Entry& e) { return byte(e) == next; });
        if (first == last) break;
        for (auto e = first; e != last && e->text.size() == n + 1; ++e) {
          if (e->special && !special) continue;
          found.push_back({begin, n + 1, e->id});
          break;  // of equal texts, the lowest id
        }
      }
    }
    return found;
  }

  /// The occurrences that are taken: by length, id and place, each where no earlier one lies.
  static std::vector<Fragment> choose(std::vector<Fragment> found, std::size_t text_bytes) {
    std::sort(found.begin(), found.end(), [](const Fragment& a, const Fragment& b) {
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      return a.id != b.id ? a.id < b.id : a.begin < b.begin;
    });
    std::vector<Fragment> taken;
    std::vector<bool> used(found.empty() ? 0 : text_bytes);
    for (const Fragment& f : found) {
      const auto begin = used.begin() + static_cast<std::ptrdiff_t>(f.begin);
      const auto end = begin + static_cast<std::ptrdiff_t>(f.bytes);
      // What was taken before is at least as long: an overlap covers one of the two ends.
      if (*begin || *(end - 1)) continue;
      std::fill(begin, end, true);
      taken.push_back(f);
    }
    return taken;
  }

  std::vector<Entry> entries_;
};

}  // namespace imbrex::text::inline IMBREX_ABI
