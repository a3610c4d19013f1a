// Everything the library throws, and the one function that throws it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The root of all errors of the library; `what()` is one line, and says what was expected and
/// what came.
class Error : public std::exception {
 public:
  /// Whatever was put into the message (a path, say), it becomes one line that cannot upset a
  /// terminal: see `printable`.
  explicit Error(const std::string& message) : message_(printable(message, message.size())) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Axes or sizes that do not fit.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A value that a configuration, an option or an environment variable cannot take.
class ConfigError : public Error {
 public:
  /// `file`: where the value was read, if it came from a file.
  ConfigError(std::string key, std::string value, const std::string& expected,
              const std::string& file = {})
      : Error((file.empty() ? "" : file + ": ") + key + " = " + value + ": expected " + expected),
        key_(std::move(key)),
        value_(std::move(value)) {}
  const std::string& key() const { return key_; }
  const std::string& value() const { return value_; }

 private:
  std::string key_, value_;
};

/// What is wrong in a file. Empty fields, and an offset of -1, are left out of the message.
struct FormatFault {
  std::string file;
  std::string problem;   ///< "tensor data ends past the end of the file"
  std::string tensor;    ///< the tensor or key concerned
  index_t offset = -1;   ///< byte in the file
  std::string expected;  ///< "4 bytes"
  std::string got;       ///< "2 bytes"
};

/// A file that is not what it should be.
class FormatError : public Error {
 public:
  explicit FormatError(FormatFault fault) : Error(describe(fault)), fault_(std::move(fault)) {}
  const FormatFault& fault() const { return fault_; }

 private:
  static std::string describe(const FormatFault& f) {
    std::string text = f.file.empty() ? f.problem : f.file + ": " + f.problem;
    if (!f.tensor.empty()) text += " (" + f.tensor + ")";
    if (f.offset >= 0) text += " at byte " + std::to_string(f.offset);
    if (!f.expected.empty()) text += ": expected " + f.expected;
    if (!f.got.empty()) text += (f.expected.empty() ? ": got " : ", got ") + f.got;
    return text;
  }

  FormatFault fault_;
};

/// A sequence or a request larger than the room that was set aside for it.
class CapacityError : public Error {
 public:
  using Error::Error;
};

/// A token id outside the vocabulary, or text that the vocabulary cannot spell.
class TokenError : public Error {
 public:
  using Error::Error;
};

/// Numbers with which a computation cannot go on (all logits NaN, say).
class NumericError : public Error {
 public:
  using Error::Error;
};

/// Throws `error`; without exceptions it prints the message and aborts. The only `throw` there is.
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(E error) {
#if IMBREX_HAS_EXCEPTIONS
  throw error;
#else
  std::fprintf(stderr, "imbrex: %s\n", error.what());
  std::abort();
#endif
}

}  // namespace imbrex::inline IMBREX_ABI
