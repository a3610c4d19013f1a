// UTF-8, read strictly: the well-formed sequences of the Unicode Standard's table 3-7 and no
// others. Overlong forms, surrogates and code points above U+10FFFF are invalid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What stands at the front of some bytes.
enum class Utf8Status {
  whole,    ///< a character
  partial,  ///< the beginning of a character, cut off by the end of the bytes
  invalid   ///< a byte that no continuation can make part of a character
};

/// The character at the front of some bytes. `bytes` is its length; where it is partial, what
/// there is of it; where it is invalid, 1.
struct Utf8Character {
  Utf8Status status;
  int bytes;
  char32_t code;  ///< valid where it is whole
};

/// Reads the character at the front of `text`, which is not empty.
constexpr Utf8Character read_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {Utf8Status::whole, 1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {Utf8Status::invalid, 1, 0};
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte alone tells overlong forms, surrogates and what is above U+10FFFF.
  unsigned lowest = 0x80, highest = 0xBF;
  if (lead == 0xE0) lowest = 0xA0;
  if (lead == 0xED) highest = 0x9F;
  if (lead == 0xF0) lowest = 0x90;
  if (lead == 0xF4) highest = 0x8F;
  char32_t code = lead & (0x7Fu >> length);
  for (int i = 1; i < length; ++i) {
    if (static_cast<std::size_t>(i) == text.size()) return {Utf8Status::partial, i, 0};
    const unsigned next = byte(static_cast<std::size_t>(i));
    if (next < lowest || next > highest) return {Utf8Status::invalid, 1, 0};
    code = (code << 6) | (next & 0x3Fu);
    lowest = 0x80;
    highest = 0xBF;
  }
  return {Utf8Status::whole, length, code};
}

/// Appends a code point, at most U+10FFFF, to `text`.
inline void append_utf8(char32_t code, std::string& text) {
  const auto put = [&](char32_t byte) {
    text.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace imbrex::inline IMBREX_ABI
