// Builds the bytes of GGUF files, wrong ones included, without the library's own writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace handmade {

/// Bytes, appended one number or string after the other.
struct Bytes {
  std::vector<std::byte> data;

  template <class T>
  Bytes& number(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    data.insert(data.end(), bytes, bytes + sizeof(T));
    return *this;
  }
  Bytes& u8(unsigned value) { return number(static_cast<std::uint8_t>(value)); }
  Bytes& u32(std::uint32_t value) { return number(value); }
  Bytes& u64(std::uint64_t value) { return number(value); }
  Bytes& text(std::string_view value) {
    u64(value.size());
    for (const char c : value) data.push_back(static_cast<std::byte>(c));
    return *this;
  }
  Bytes& zeros(std::size_t count) {
    data.resize(data.size() + count);
    return *this;
  }
  Bytes& pad(std::size_t alignment) {
    while (data.size() % alignment != 0) data.push_back({});
    return *this;
  }

  Bytes& header(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    return u32(0x46554747).u32(version).u64(tensors).u64(keys);
  }
  Bytes& tensor(std::string_view name, std::vector<std::uint64_t> dims, std::uint32_t type,
                std::uint64_t offset) {
    text(name).u32(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) u64(dim);
    return u32(type).u64(offset);
  }
};

// The numbers that stand for types of values, and of tensors, in a file.
enum Value : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64
};
enum Tensor : std::uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q8_0 = 8, q4_k = 12 };

}  // namespace handmade
