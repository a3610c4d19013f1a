// A file written beside its final place and moved there when it is whole, so that nobody ever sees
// half of it, and what was there before survives a failure.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Writes to a temporary file in the directory of `path`; `commit` gives it the name. Without a
/// commit the destructor removes it. A symbolic link stays, and its target is replaced; the mode of
/// a file that is there is kept. Throws FormatError with the system's reason, and where `path` is
/// something other than a regular file.
class FileReplacement {
 public:
  explicit FileReplacement(std::string path) : path_(std::move(path)), target_(path_) {
    find_target();
    static std::atomic<unsigned> serial{0};
    do {
      temporary_ = target_ + ".partial-" + std::to_string(::getpid()) + "-" +
                   std::to_string(serial.fetch_add(1));
      // Until it has the mode of the file it replaces, nobody else may read it.
      descriptor_ =
          ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_ ? 0600 : 0666);
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
    if (mode_ && ::fchmod(descriptor_, *mode_) != 0) fail("cannot be given its mode");
    if (::fsync(descriptor_) != 0) fail("cannot be written");
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot be written");
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be replaced");
    committed_ = true;
  }

 private:
  /// Follows links, and takes the mode of the file that is there.
  void find_target() {
    struct ::stat status;
    if (::lstat(path_.c_str(), &status) != 0) {
      if (errno != ENOENT) fail("cannot be created");
      return;
    }
    if (S_ISLNK(status.st_mode)) {
      char* resolved = ::realpath(path_.c_str(), nullptr);
      if (resolved == nullptr) fail("is a link that leads nowhere");
      const std::unique_ptr<char, void (*)(void*)> owner(resolved, std::free);
      target_ = resolved;
      if (::lstat(target_.c_str(), &status) != 0) fail("cannot be replaced");
    }
    if (!S_ISREG(status.st_mode)) refuse("cannot be replaced: is not a regular file");
    mode_ = status.st_mode & 07777;
  }

  [[noreturn]] void fail(const char* problem) const {
    const std::string reason = std::generic_category().message(errno);
    refuse(std::string(problem) + ": " + reason);
  }

  [[noreturn]] void refuse(std::string problem) const {
    raise(FormatError(
        {.file = path_, .problem = std::move(problem), .tensor = {}, .expected = {}, .got = {}}));
  }

  std::string path_, target_, temporary_;
  std::optional<::mode_t> mode_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace imbrex::inline IMBREX_ABI
