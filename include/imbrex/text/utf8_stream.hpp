// Whole characters out of pieces that may end inside one.
#pragma once

#include <string>
#include <string_view>

#include "imbrex/text/utf8.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Cuts a stream of bytes at the ends of characters: a piece of a token stream may stop inside a
/// character, a terminal or a JSON string must not.
///
/// All that was fed comes out, once and in order: the concatenation of what `feed` and the last
/// `flush` return is the concatenation of what was fed. Held back are only the at most 3 bytes at
/// the end that further bytes can still complete; a byte that can belong to no character passes
/// at once, as it is.
class Utf8Stream {
 public:
  Utf8Stream() {
    out_.reserve(256);  // most pieces fit: no allocation while streaming
  }

  /// Takes bytes in; returns what is whole now, valid until the next call.
  std::string_view feed(std::string_view bytes) {
    out_.assign(held_, static_cast<std::size_t>(held_bytes_));
    out_.append(bytes);
    const std::size_t whole = out_.size() - partial_end(out_);
    held_bytes_ = static_cast<int>(out_.copy(held_, sizeof held_, whole));
    return std::string_view(out_).substr(0, whole);
  }

  /// The end of the stream: returns what was held back, though it is no whole character.
  std::string_view flush() {
    out_.assign(held_, static_cast<std::size_t>(held_bytes_));
    held_bytes_ = 0;
    return out_;
  }

  /// How many bytes are held back: 0 to 3.
  int held() const { return held_bytes_; }

 private:
  /// The length of the beginning of a character at the end of `text`; 0 where there is none.
  static std::size_t partial_end(std::string_view text) {
    for (std::size_t n = 1; n <= 3 && n <= text.size(); ++n) {
      const std::string_view end = text.substr(text.size() - n);
      const bool continuation = (static_cast<unsigned char>(end[0]) & 0xC0) == 0x80;
      if (continuation) continue;  // its lead byte is further to the left
      return read_utf8(end).status == Utf8Status::partial ? n : 0;
    }
    return 0;
  }

  std::string out_;
  char held_[3] = {};
  int held_bytes_ = 0;
};

}  // namespace imbrex::inline IMBREX_ABI
