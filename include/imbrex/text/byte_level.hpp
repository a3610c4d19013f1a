// The byte-level alphabet of GPT-2's vocabularies: each of the 256 bytes is written as one
// printable character, so that a vocabulary file holds text only.
//
// Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", and the
// encoder published with it. The printable characters of Latin-1 stand for themselves (33 to 126,
// 161 to 172, 174 to 255); the 68 bytes left over take the code points from 256 on, in order. So
// a space is U+0120 and a line feed U+010A.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "imbrex/text/utf8.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace byte_level {

/// Whether the byte stands for itself.
constexpr bool printable(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct Tables {
  char32_t code[256] = {};  // byte -> code point
  short byte[324] = {};     // code point -> byte, or -1; 324 = 256 + 68
};

constexpr Tables make_tables() {
  Tables t;
  for (short& b : t.byte) b = -1;
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t code = printable(byte) ? static_cast<char32_t>(byte) : next++;
    t.code[byte] = code;
    t.byte[code] = static_cast<short>(byte);
  }
  return t;
}

inline constexpr Tables tables = make_tables();

}  // namespace byte_level

/// The code point that stands for a byte.
constexpr char32_t byte_to_code_point(unsigned char byte) { return byte_level::tables.code[byte]; }

/// The byte that a code point stands for; -1 where it stands for none.
constexpr int code_point_to_byte(char32_t code) {
  return code < 324 ? byte_level::tables.byte[code] : -1;
}

/// Writes bytes in the alphabet; the result is UTF-8.
inline std::string to_byte_level(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 2);
  for (const char c : bytes) append_utf8(byte_to_code_point(static_cast<unsigned char>(c)), text);
  return text;
}

/// Reads text in the alphabet back to `bytes`; false, and `bytes` untouched, where a character is
/// not of the alphabet.
inline bool from_byte_level(std::string_view text, std::string& bytes) {
  std::string read;
  read.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character c = read_utf8(text);
    const int byte = c.status == Utf8Status::whole ? code_point_to_byte(c.code) : -1;
    if (byte < 0) return false;
    read.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
    text.remove_prefix(static_cast<std::size_t>(c.bytes));
  }
  bytes = std::move(read);
  return true;
}

}  // namespace imbrex::inline IMBREX_ABI
