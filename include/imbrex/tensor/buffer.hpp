// Memory for elements: 64-byte aligned (a cache line, and the widest vector register), zeroed.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "imbrex/base/errors.hpp"

namespace imbrex::inline IMBREX_ABI {

/// In bytes.
inline constexpr std::size_t buffer_alignment = 64;

/// Owns `size()` elements of a trivial type. Move-only: copies of what may be gigabytes are asked
/// for by name, `clone()`.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;

  /// `count` zeros. Throws CapacityError when there is no memory, or the bytes cannot be counted.
  explicit Buffer(index_t count) : size_(count) {
    index_t bytes = 0;
    if (!multiply_fits(count, index_t{sizeof(T)}, bytes) ||
        static_cast<std::uint64_t>(bytes) > static_cast<std::size_t>(-1) / 2) {
      raise(CapacityError("a buffer of " + std::to_string(count) + " elements of " +
                          std::to_string(sizeof(T)) + " bytes does not fit the address space"));
    }
    if (count > 0) allocate(static_cast<std::size_t>(bytes));
  }

  /// Takes the elements along; `other` has none then, or those that were here.
  Buffer(Buffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { std::free(memory_); }

  /// A copy of the elements. Throws CapacityError.
  Buffer clone() const {
    Buffer copy(size_);
    if (size_ > 0) std::memcpy(copy.data_, data_, static_cast<std::size_t>(size_) * sizeof(T));
    return copy;
  }

  /// The elements; null where there are none.
  T* data() { return data_; }
  const T* data() const { return data_; }
  index_t size() const { return size_; }

 private:
  /// calloc, because large blocks of it are pages of zeros that cost nothing until they are used (a
  /// cache for 100,000 tokens of which ten are filled); the alignment is made by hand.
  void allocate(std::size_t bytes) {
    memory_ = std::calloc(1, bytes + buffer_alignment);
    if (memory_ == nullptr) {
      raise(CapacityError("no memory for " + std::to_string(bytes) + " bytes"));
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_);
    const auto aligned = (address + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
    data_ = reinterpret_cast<T*>(static_cast<char*>(memory_) + (aligned - address));
  }

  void* memory_ = nullptr;
  T* data_ = nullptr;
  index_t size_ = 0;
};

}  // namespace imbrex::inline IMBREX_ABI
