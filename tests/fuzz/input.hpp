// Cuts the bytes that a fuzzer made into numbers and texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace imbrex::fuzz {

/// Ends the program where something does not hold: a finding.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Bytes, taken from the front; zeros once there are none left.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

  /// The next sizeof(T) bytes, whatever number they are (a double may be NaN).
  template <class T>
  T take() {
    T value{};
    const std::size_t bytes = rest_.size() < sizeof(T) ? rest_.size() : sizeof(T);
    std::memcpy(&value, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
    return value;
  }

  /// A number below `limit`, of one byte.
  unsigned below(unsigned limit) { return take<std::uint8_t>() % limit; }

  /// The bytes up to the next `end`, which is taken too and not returned; or all that are left.
  std::string_view text(char end) {
    const std::size_t at = rest_.find(end);
    const std::string_view result = rest_.substr(0, at);
    rest_.remove_prefix(at == rest_.npos ? rest_.size() : at + 1);
    return result;
  }

 private:
  std::string_view rest_;
};

}  // namespace imbrex::fuzz
