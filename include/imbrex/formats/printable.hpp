// Text from a file, made safe to print in a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace imbrex {

/// The beginning of `text`, at most `limit` bytes and no half character, with "..." where some was
/// left out and "?" for control characters, which could upset a terminal.
inline std::string printable(std::string_view text, std::size_t limit = 64) {
  std::size_t end = text.size() < limit ? text.size() : limit;
  // Bytes 10xxxxxx continue a character of UTF-8.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  std::string result(text.substr(0, end));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (end < text.size()) result += "...";
  return result;
}

}  // namespace imbrex
