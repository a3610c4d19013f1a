// Text from outside (a file, a path, the environment), made safe to print in a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "imbrex/base/version.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace printable_text {

/// The character of UTF-8 that `text`, which is not empty, begins with: its bytes, and `code`.
/// Bytes that begin none (overlong forms and surrogates among them) are 0.
inline std::size_t decode(std::string_view text, std::uint32_t& code) {
  const auto byte = [text](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  code = byte(0);
  if (code < 0x80) return 1;
  const std::size_t bytes = code < 0xC2   ? 0
                            : code < 0xE0 ? 2
                            : code < 0xF0 ? 3
                            : code < 0xF5 ? 4
                                          : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  code &= 0x7Fu >> bytes;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < least[bytes] || code > 0x10FFFF || surrogate ? 0 : bytes;
}

/// Whether a character changes how others are shown: the controls C0 and C1 (U+009B begins an
/// escape sequence), the separators of lines, and what sets the direction of writing.
constexpr bool upsets(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||
         (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace printable_text

/// The beginning of `text`, at most `limit` bytes and no half character, with "..." where some was
/// left out and "?" for each character that could upset a terminal or a reader and each byte that
/// is not UTF-8.
inline std::string printable(std::string_view text, std::size_t limit = 64) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t bytes = printable_text::decode(text.substr(at), code);
    const std::size_t step = bytes == 0 ? 1 : bytes;
    if (at + step > limit) return result + "...";
    if (bytes == 0 || printable_text::upsets(code)) {
      result += '?';
    } else {
      result += text.substr(at, bytes);
    }
    at += step;
  }
  return result;
}

}  // namespace imbrex::inline IMBREX_ABI
