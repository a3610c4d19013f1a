// The bytes of a file, read only: mapped where that serves, or read into memory.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

/// How the bytes of a file get into the address space.
enum class FileAccess {
  map,  ///< mapped: pages come in when they are touched, and are shared between processes
  read  ///< copied into memory: safe on network drives and where the file may shrink meanwhile,
        ///< which with a map kills the process at the first touch of a lost page (SIGBUS)
};

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::mapped_file::inline IMBREX_ABI {

static_assert(sizeof(::off_t) == 8, "files above 2 GiB need 64-bit offsets");

/// Closes a file descriptor at the end of its scope.
struct Descriptor {
  explicit Descriptor(int n) : number(n) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int number;
};

[[noreturn]] inline void fail(const std::string& path, std::string problem,
                              std::string expected = {}, std::string got = {}) {
  raise(FormatError({.file = path,
                     .problem = std::move(problem),
                     .tensor = {},
                     .expected = std::move(expected),
                     .got = std::move(got)}));
}

/// "cannot be opened: No such file or directory", from errno.
[[noreturn]] inline void fail_errno(const std::string& path, const char* problem) {
  fail(path, std::string(problem) + ": " + std::generic_category().message(errno));
}

/// The size of an open file; throws FormatError unless it is a regular file with bytes in it.
inline index_t size_of(const Descriptor& file, const std::string& path) {
  struct ::stat status = {};
  if (::fstat(file.number, &status) != 0) fail_errno(path, "cannot be examined");
  if (S_ISDIR(status.st_mode)) fail(path, "is a directory", "a file");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file");
  if (status.st_size <= 0) fail(path, "is empty");
  return status.st_size;
}

}  // namespace imbrex::mapped_file::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// A file, open for reading, whose bytes lie at one address for as long as the object lives (also
/// when it is moved). Bytes start at a multiple of 64. Move-only.
class MappedFile {
 public:
  /// Throws FormatError when `path` is missing, unreadable, a directory or empty, or when it
  /// shrinks while it is read; CapacityError when there is no memory to read it into, or no room
  /// for it in a 32-bit address space.
  explicit MappedFile(std::string path, FileAccess access = FileAccess::map)
      : path_(std::move(path)) {
    // Not blocking: to open a pipe would otherwise wait for its writer.
    const mapped_file::Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number < 0) mapped_file::fail_errno(path_, "cannot be opened");
    const index_t size = mapped_file::size_of(file, path_);
    if (static_cast<std::uint64_t>(size) > static_cast<std::size_t>(-1) / 2) {
      raise(CapacityError(path_ + ": its " + std::to_string(size) +
                          " bytes do not fit the address space"));
    }
    access_ = access;
    if (access == FileAccess::map) {
      map(file, size);
    } else {
      read(file, size);
    }
  }

  /// Takes the bytes along: they stay where they are, and `other` has none.
  MappedFile(MappedFile&& other) noexcept
      : path_(std::move(other.path_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        access_(other.access_) {}

  /// The same; the bytes that were here go.
  MappedFile& operator=(MappedFile&& other) noexcept {
    MappedFile taken(std::move(other));
    std::swap(path_, taken.path_);
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    std::swap(access_, taken.access_);
    return *this;
  }

  ~MappedFile() {
    if (data_ == nullptr) return;
    if (access_ == FileAccess::map) {
      ::munmap(data_, static_cast<std::size_t>(size_));
    } else {
      ::operator delete(data_, std::align_val_t{alignment});
    }
  }

  /// The file's bytes, and its path.
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), static_cast<std::size_t>(size_)};
  }
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t alignment = 64;

  void map(const mapped_file::Descriptor& file, index_t size) {
    void* data =
        ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file.number, 0);
    if (data == MAP_FAILED) mapped_file::fail_errno(path_, "cannot be mapped");
    data_ = data;
    size_ = size;
  }

  // From here on the destructor would not run if this threw: the buffer is guarded by hand.
  void read(const mapped_file::Descriptor& file, index_t size) {
    Buffer buffer(size);
    if (buffer.data == nullptr) {
      raise(CapacityError(path_ + ": no memory for its " + std::to_string(size) + " bytes"));
    }
    index_t done = 0;
    while (done < size) {
      // The kernel transfers at most 2 GiB a call.
      const index_t part = lesser(size - done, index_t{1} << 30);
      const ::ssize_t got = ::pread(file.number, static_cast<std::byte*>(buffer.data) + done,
                                    static_cast<std::size_t>(part), done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) mapped_file::fail_errno(path_, "cannot be read");
      if (got == 0) {
        mapped_file::fail(path_, "shrank while it was read", std::to_string(size) + " bytes",
                          std::to_string(done) + " bytes");
      }
      done += got;
    }
    data_ = std::exchange(buffer.data, nullptr);
    size_ = size;
  }

  struct Buffer {
    explicit Buffer(index_t size)
        : data(::operator new(static_cast<std::size_t>(size), std::align_val_t{alignment},
                              std::nothrow)) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
      if (data != nullptr) ::operator delete(data, std::align_val_t{alignment});
    }
    void* data;
  };

  std::string path_;
  void* data_ = nullptr;
  index_t size_ = 0;
  FileAccess access_ = FileAccess::map;
};

}  // namespace imbrex::inline IMBREX_ABI
