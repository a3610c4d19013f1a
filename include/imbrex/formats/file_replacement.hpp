// A file written beside its final place and moved there when it is whole, so that nobody ever sees
// half of it, and what was there before survives a failure.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Writes to a temporary file in the directory of `path`; `commit` gives it the name. Without a
/// commit the destructor removes it. Throws FormatError with the system's reason.
class FileReplacement {
 public:
  explicit FileReplacement(std::string path) : path_(std::move(path)) {
    static std::atomic<unsigned> serial{0};
    do {
      temporary_ = path_ + ".partial-" + std::to_string(::getpid()) + "-" +
                   std::to_string(serial.fetch_add(1));
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);  // left over from a process that was killed
    if (descriptor_ < 0) fail("cannot be created");
  }

  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  ~FileReplacement() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!committed_) ::unlink(temporary_.c_str());
  }

  /// Appends.
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ::ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  /// Puts the file in its place, once it has reached the disk.
  void commit() {
    if (::fsync(descriptor_) != 0) fail("cannot be written");
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be replaced");
    committed_ = true;
  }

 private:
  [[noreturn]] void fail(const char* problem) const {
    const std::string reason = std::generic_category().message(errno);
    raise(FormatError({.file = path_,
                       .problem = std::string(problem) + ": " + reason,
                       .tensor = {},
                       .expected = {},
                       .got = {}}));
  }

  std::string path_, temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace imbrex::inline IMBREX_ABI
