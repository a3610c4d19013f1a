// A cursor over the bytes of a file. Whatever is read is checked against what is left, so a
// format's reader cannot run past the end, and errors say where in the file.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace imbrex::inline IMBREX_ABI {

static_assert(std::endian::native == std::endian::little,
              "imbrex reads and writes little-endian files by copying bytes");

/// Reads little-endian numbers and strings one after the other. It does not own the bytes, nor
/// the file's name, which is for error messages.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view file)
      : data_(bytes.data()), size_(static_cast<index_t>(bytes.size())), file_(file) {}

  /// Bytes read so far, and bytes that are left.
  index_t position() const { return position_; }
  index_t left() const { return size_ - position_; }

  /// The next sizeof(T) bytes as a number. `what` names it in the error.
  template <class T>
  T number(const char* what) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(static_cast<index_t>(sizeof(T)), what).data(), sizeof(T));
    return value;
  }

  /// The next `count` bytes.
  std::span<const std::byte> take(index_t count, const char* what) {
    if (count < 0 || count > left()) {
      fail("file ends inside " + std::string(what), std::to_string(count) + " bytes",
           std::to_string(left()) + " bytes");
    }
    const std::byte* start = data_ + position_;
    position_ += count;
    return {start, static_cast<std::size_t>(count)};
  }

  /// A 64-bit count of things of at least `entry_bytes` bytes each, which must have room in what
  /// is left: so no count can make a reader set aside more memory than the file is worth.
  index_t count(index_t entry_bytes, const char* what) {
    const index_t start = position_;
    const std::uint64_t n = number<std::uint64_t>(what);
    const index_t room = left() / entry_bytes;
    if (n > static_cast<std::uint64_t>(room)) {
      position_ = start;
      fail(std::string(what) + " is more than the file holds", "at most " + std::to_string(room),
           std::to_string(n));
    }
    return static_cast<index_t>(n);
  }

  /// A string: a 64-bit length, and that many bytes, which are not copied.
  std::string_view text(const char* what) {
    const index_t length = count(1, what);
    const std::byte* start = take(length, what).data();
    return {reinterpret_cast<const char*>(start), static_cast<std::size_t>(length)};
  }

  /// The bytes from `start` to here.
  std::span<const std::byte> since(index_t start) const {
    return {data_ + start, static_cast<std::size_t>(position_ - start)};
  }

  /// Throws FormatError at the present position. `subject` is the key or tensor concerned.
  [[noreturn]] void fail(std::string problem, std::string expected = {}, std::string got = {},
                         std::string_view subject = {}) const {
    fail_at(position_, std::move(problem), std::move(expected), std::move(got), subject);
  }

  /// The same at a position of one's own.
  [[noreturn]] void fail_at(index_t offset, std::string problem, std::string expected = {},
                            std::string got = {}, std::string_view subject = {}) const {
    raise(FormatError({.file = std::string(file_),
                       .problem = std::move(problem),
                       .tensor = printable(subject),
                       .offset = offset,
                       .expected = std::move(expected),
                       .got = std::move(got)}));
  }

 private:
  const std::byte* data_;
  index_t size_;
  index_t position_ = 0;
  std::string_view file_;
};

}  // namespace imbrex::inline IMBREX_ABI
