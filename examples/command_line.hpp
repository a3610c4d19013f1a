// Options of the example programs: "--name value" and "--name"; and what all their main() do.
#pragma once

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
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

/// Reads all of `text` as a number, as the C locale writes it; false where it is none.
template <class T>
bool read_number(const std::string& text, T& number) {
  const char *first = text.data(), *last = first + text.size();
  if constexpr (requires { std::from_chars(first, last, number); }) {
    const auto [end, error] = std::from_chars(first, last, number);
    return error == std::errc() && end == last;
  } else {  // clang's library reads whole numbers alone; that of C takes more than from_chars does
    if (text.empty() || text.find_first_of("+ \t\n\v\f\r") == 0) return false;
    if (text.find_first_of("xX") != text.npos) return false;
    char* end = nullptr;
    errno = 0;
    number = static_cast<T>(std::strtod(first, &end));
    return errno == 0 && end == last;
  }
}

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

  /// The same as the name of a file. Throws UsageError where it is empty, which a script's variable
  /// is that was not set.
  std::string file(std::string_view option) {
    const std::string name = value(option);
    if (name.empty()) imbrex::raise(UsageError(std::string(option) + ": expected a file's name"));
    return name;
  }

  /// The same as a number, all of it. Throws UsageError.
  template <class T>
  T number(std::string_view option) {
    const std::string text = value(option);
    T result{};
    if (!read_number(text, result)) {
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

/// Throws UsageError for a word that the program does not know.
[[noreturn]] inline void refuse(std::string_view word) {
  imbrex::raise(UsageError("unexpected argument '" + imbrex::printable(word) + "'; see --help"));
}

inline bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

/// For a program without options: false where help is asked for. Throws UsageError for other words.
inline bool parse_nothing(int argc, char** argv) {
  CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view word = line.take();
    if (asks_for_help(word)) return false;
    refuse(word);
  }
  return true;
}

/// Throws Error where what was printed has not arrived: a full disk, a closed pipe.
inline void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    imbrex::raise(imbrex::Error("standard output cannot be written"));
  }
}

/// The exit code of a program: of run(argc, argv), which is false where help is asked for. An error
/// is one line, "NAME: ...", behind what was printed before it.
template <class Run>
int run_main(const char* name, const char* usage, int argc, char** argv, const Run& run) {
  try {
    if (!run(argc, argv)) std::fputs(usage, stdout);
    check_output();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace examples
