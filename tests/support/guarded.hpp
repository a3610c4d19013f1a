// Memory that ends where the process may not read: a read past its end is a crash, in every build.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace imbrex::tests {

/// `size` bytes right before a page without access (and so at any alignment).
class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t size) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t open = (size + page - 1) / page * page;
    mapped_ = open + page;
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + open, page, PROT_NONE) != 0) std::abort();
    data_ = memory_ + (open - size);
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(memory_, mapped_); }

  std::byte* data() const { return data_; }

 private:
  std::byte* memory_;
  std::byte* data_;
  std::size_t mapped_;
};

/// Floats that end there.
class GuardedFloats {
 public:
  explicit GuardedFloats(const std::vector<float>& values)
      : bytes_(values.size() * sizeof(float)), count_(values.size()) {
    if (count_ > 0) std::memcpy(bytes_.data(), values.data(), count_ * sizeof(float));
  }

  float* data() const { return reinterpret_cast<float*>(bytes_.data()); }
  std::vector<float> values() const { return {data(), data() + count_}; }

 private:
  GuardedBytes bytes_;
  std::size_t count_;
};

}  // namespace imbrex::tests
