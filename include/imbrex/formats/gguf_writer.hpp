// Writes GGUF, version 3, little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"
#include "imbrex/formats/file_replacement.hpp"
#include "imbrex/formats/gguf_reader.hpp"
#include "imbrex/formats/gguf_tensor.hpp"
#include "imbrex/formats/gguf_value.hpp"

namespace imbrex::gguf::inline IMBREX_ABI {

using Bytes = std::vector<std::byte>;

inline void append(Bytes& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
void append_number(Bytes& out, T number) {
  append(out, std::as_bytes(std::span<const T, 1>(&number, 1)));
}

inline void append_string(Bytes& out, std::string_view text) {
  append_number(out, static_cast<std::uint64_t>(text.size()));
  append(out, std::as_bytes(std::span(text)));
}

inline void append_type(Bytes& out, GgufValueType type) {
  append_number(out, static_cast<std::uint32_t>(type));
}

inline void append_zeros(Bytes& out, index_t count) {
  out.insert(out.end(), static_cast<std::size_t>(count), std::byte{0});
}

/// How many bytes lie between `position` and the next multiple of `alignment`.
constexpr index_t padding(index_t position, index_t alignment) {
  return ceil_div(position, alignment) * alignment - position;
}

}  // namespace imbrex::gguf::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// Collects metadata and tensors, and writes them as a file. What it writes, GgufFile reads back
/// the same. Calls that throw leave it as it was.
class GgufWriter {
 public:
  /// `alignment` of the tensors' bytes: a power of two from 8 on, which every reader accepts.
  /// Throws ConfigError.
  explicit GgufWriter(index_t alignment = gguf_default_alignment) : alignment_(alignment) {
    const bool power_of_two = alignment > 0 && (alignment & (alignment - 1)) == 0;
    if (!power_of_two || alignment < 8 || alignment > (index_t{1} << 31)) {
      raise(ConfigError(alignment_key, std::to_string(alignment), "a power of two, 8 to 2^31"));
    }
    if (alignment != gguf_default_alignment) {
      put(alignment_key, GgufValueType::uint32, [&](gguf::Bytes& out) {
        gguf::append_number(out, static_cast<std::uint32_t>(alignment));
      });
    }
  }

  /// Tensors' names stay where they are in a move, and would not in a copy. A writer that was moved
  /// from can be assigned to.
  GgufWriter(const GgufWriter&) = delete;
  GgufWriter& operator=(const GgufWriter&) = delete;
  GgufWriter(GgufWriter&&) = default;
  GgufWriter& operator=(GgufWriter&&) = default;

  /// Adds a number or bool of exactly the type T, a string (anything that is one), or an array (a
  /// std::vector) of these. Throws ConfigError for keys that are empty, too long, or there already;
  /// `general.alignment` is the constructor's.
  template <class T>
  void add(std::string_view key, const T& value) {
    check_key(key);
    if constexpr (gguf_value::is_vector<T>) {
      using Element = typename T::value_type;
      put(key, GgufValueType::array, [&](gguf::Bytes& out) {
        gguf::append_type(out, type_of<Element>());
        gguf::append_number(out, static_cast<std::uint64_t>(value.size()));
        for (const Element& element : value) append_value(out, element);
      });
    } else {
      put(key, type_of<T>(), [&](gguf::Bytes& out) { append_value(out, value); });
    }
  }

  /// Adds a value of another file, as it is.
  void add(std::string_view key, const GgufValue& value) {
    check_key(key);
    put(key, value.type(), [&](gguf::Bytes& out) {
      if (value.type() == GgufValueType::array) {
        gguf::append_type(out, value.element_type());
        gguf::append_number(out, static_cast<std::uint64_t>(value.count()));
      }
      gguf::append(out, value.payload());
    });
  }

  /// Adds a tensor; `dims` in the file's order, the contiguous axis first. Its bytes are not
  /// copied: they must stay until the file is written. Throws ConfigError for a name that is
  /// empty, longer than 63 bytes or taken, ShapeError where `bytes` is not the size that type and
  /// dims make, or there are more than 4 axes.
  void add_tensor(std::string_view name, GgufType type, std::span<const index_t> dims,
                  std::span<const std::byte> bytes) {
    check_name("tensor", name, gguf_max_written_name_bytes);
    if (names_.count(std::string(name)) != 0) fail("tensor", name, "a name that is not taken");
    if (dims.size() > gguf_max_rank) {
      raise(ShapeError(printable(name) + " has " + std::to_string(dims.size()) +
                       " axes, and a GGUF file at most 4"));
    }
    GgufTensor tensor;
    tensor.type = type;
    tensor.rank = static_cast<int>(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) tensor.dims[i] = dims[i];
    tensor.bytes = gguf_tensor_bytes(type, tensor.dims);
    tensor.data = bytes.data();
    if (tensor.bytes != static_cast<index_t>(bytes.size())) fail_size(name, tensor, bytes.size());
    index_t end = 0;
    if (!add_fits(data_bytes_, tensor.bytes + gguf::padding(data_bytes_, alignment_), end)) {
      fail_size(name, tensor, bytes.size());
    }
    tensor.offset = end - tensor.bytes;
    const auto at = names_.insert(std::string(name)).first;
    tensor.name = *at;  // nodes of a set stay where they are
    tensors_.push_back(tensor);
    data_bytes_ = end;
  }

  /// The whole file.
  std::vector<std::byte> to_bytes() const {
    gguf::Bytes out = head();
    for (const GgufTensor& tensor : tensors_) {
      gguf::append(out, {tensor.data, static_cast<std::size_t>(tensor.bytes)});
      gguf::append_zeros(out, gguf::padding(tensor.bytes, alignment_));
    }
    return out;
  }

  /// Writes the file to `path`, in place of the file that was there, whose mode it takes; on
  /// failure that is untouched. Where `path` is a symbolic link, its target is replaced. Throws
  /// FormatError with the system's reason, and for what is no regular file (a device, a pipe, a
  /// directory).
  void write(const std::string& path) const {
    FileReplacement file(path);
    file.write(head());
    for (const GgufTensor& tensor : tensors_) {
      gguf::Bytes zeros;
      gguf::append_zeros(zeros, gguf::padding(tensor.bytes, alignment_));
      file.write({tensor.data, static_cast<std::size_t>(tensor.bytes)});
      file.write(zeros);
    }
    file.commit();
  }

 private:
  static constexpr const char* alignment_key = "general.alignment";

  /// Everything before the tensors' bytes, padding included.
  gguf::Bytes head() const {
    gguf::Bytes out;
    gguf::append_number(out, gguf_magic);
    gguf::append_number(out, gguf_version);
    gguf::append_number(out, static_cast<std::uint64_t>(tensors_.size()));
    gguf::append_number(out, static_cast<std::uint64_t>(keys_.size()));
    gguf::append(out, entries_);
    for (const GgufTensor& tensor : tensors_) {
      gguf::append_string(out, tensor.name);
      gguf::append_number(out, static_cast<std::uint32_t>(tensor.rank));
      for (int i = 0; i < tensor.rank; ++i) {
        gguf::append_number(out, tensor.dims[static_cast<std::size_t>(i)]);
      }
      gguf::append_number(out, static_cast<std::uint32_t>(tensor.type));
      gguf::append_number(out, tensor.offset);
    }
    gguf::append_zeros(out, gguf::padding(static_cast<index_t>(out.size()), alignment_));
    return out;
  }

  template <class T>
  static constexpr GgufValueType type_of() {
    if constexpr (std::is_arithmetic_v<T>) {
      return gguf_type_of<T>();
    } else {
      static_assert(std::is_convertible_v<const T&, std::string_view>,
                    "a number, bool, string, or a std::vector of these");
      return GgufValueType::string;
    }
  }

  template <class T>
  static void append_value(gguf::Bytes& out, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      gguf::append_number(out, static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      gguf::append_number(out, value);
    } else {
      gguf::append_string(out, value);
    }
  }

  template <class Encode>
  void put(std::string_view key, GgufValueType type, Encode encode) {
    gguf::Bytes entry;
    gguf::append_string(entry, key);
    gguf::append_type(entry, type);
    encode(entry);
    entries_.reserve(entries_.size() + entry.size());  // what can fail comes before the key
    keys_.insert(std::string(key));
    gguf::append(entries_, entry);
  }

  void check_key(std::string_view key) const {
    check_name("key", key, gguf_max_key_bytes);
    if (key == alignment_key) fail("key", key, "another: alignment is the constructor's argument");
    if (keys_.count(std::string(key)) != 0) fail("key", key, "one that is not there yet");
  }

  static void check_name(const char* what, std::string_view name, index_t most) {
    if (!name.empty() && static_cast<index_t>(name.size()) <= most) return;
    fail(what, name, "1 to " + std::to_string(most) + " bytes");
  }

  [[noreturn]] static void fail(const char* what, std::string_view name,
                                const std::string& expected) {
    raise(ConfigError(what, '"' + printable(name) + '"', expected));
  }

  [[noreturn]] static void fail_size(std::string_view name, const GgufTensor& tensor,
                                     std::size_t got) {
    const std::string expected =
        tensor.bytes >= 0 ? std::to_string(tensor.bytes) + " bytes" : "a size that no tensor has";
    raise(ShapeError(printable(name) + tensor.shape() + " of " + imbrex::name(tensor.type) +
                     " takes " + expected + ", and was given " + std::to_string(got)));
  }

  index_t alignment_;
  index_t data_bytes_ = 0;  // of the tensors so far, with padding between them
  gguf::Bytes entries_;     // encoded
  std::set<std::string> keys_, names_;
  std::vector<GgufTensor> tensors_;  // offsets from where the tensors' bytes start
};

}  // namespace imbrex::inline IMBREX_ABI
