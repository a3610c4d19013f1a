// Options of the example programs: "--name value" and "--name".
#pragma once

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace examples {

/// A mistake on the command line.
class UsageError : public imbrex::Error {
 public:
  using Error::Error;
};

/// The words of a command line, taken one by one.
class CommandLine {
 public:
  CommandLine(int argc, char** argv) : words_(argv + 1, argv + argc) {}

  bool done() const { return next_ == words_.size(); }
  std::string_view take() { return words_[next_++]; }

  /// The word behind an option. Throws UsageError where there is none.
  std::string value(std::string_view option) {
    if (done()) imbrex::raise(UsageError(std::string(option) + ": expected a value behind it"));
    return std::string(take());
  }

  /// The same as a number, all of it. Throws UsageError.
  template <class T>
  T number(std::string_view option) {
    const std::string text = value(option);
    T result{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size()) {
      constexpr const char* kind = std::is_floating_point_v<T> ? "a number"
                                   : std::is_signed_v<T>       ? "a whole number"
                                                               : "a whole number, 0 or more";
      imbrex::raise(UsageError(std::string(option) + ": expected " + kind + ", got \"" +
                               imbrex::printable(text) + "\""));
    }
    return result;
  }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
};

/// Throws Error where what was printed has not arrived: a full disk, a closed pipe.
inline void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    imbrex::raise(imbrex::Error("standard output cannot be written"));
  }
}

}  // namespace examples
