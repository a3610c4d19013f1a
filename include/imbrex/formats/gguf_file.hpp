// A GGUF file: its metadata by key, its tensors by name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/owner.hpp"
#include "imbrex/base/printable.hpp"
#include "imbrex/formats/gguf_reader.hpp"
#include "imbrex/formats/mapped_file.hpp"

namespace imbrex::inline IMBREX_ABI {

/// An open GGUF file, versions 2 and 3, checked as a whole. Keys, strings and tensors are views of
/// the file's bytes; they live as long as the object, a copy of it, or a copy of `owner()`.
class GgufFile {
 public:
  /// Throws FormatError when the file cannot be opened or is not a sound GGUF file.
  static GgufFile open(std::string path, FileAccess access = FileAccess::map) {
    MappedFile file(path, access);
    const std::span<const std::byte> bytes = file.bytes();  // stay where they are when it moves
    GgufFile result = parse(bytes, std::move(path));
    result.owner_ = Owner::of(std::move(file));
    return result;
  }

  /// The same for bytes in memory, which the caller keeps. `name` stands for the file in errors.
  static GgufFile parse(std::span<const std::byte> bytes, std::string name) {
    GgufFile result;
    result.contents_ = gguf::Reader(bytes, name).read();
    result.name_ = std::move(name);
    return result;
  }

  /// The path, or what stands for it; the format's version; the alignment of tensors in bytes.
  const std::string& name() const { return name_; }
  std::uint32_t version() const { return contents_.version; }
  index_t alignment() const { return contents_.alignment; }

  /// Metadata and tensors in the file's order.
  const std::vector<GgufEntry>& metadata() const { return contents_.entries; }
  const std::vector<GgufTensor>& tensors() const { return contents_.tensors; }

  /// The value of `key`, or null.
  const GgufValue* find(std::string_view key) const {
    const GgufEntry* entry = look_up(contents_.entries, contents_.entries_by_key, key,
                                     [](const GgufEntry& e) { return e.key; });
    return entry != nullptr ? &entry->value : nullptr;
  }

  /// The tensor called `name`, or null.
  const GgufTensor* find_tensor(std::string_view name) const {
    return look_up(contents_.tensors, contents_.tensors_by_name, name,
                   [](const GgufTensor& t) { return t.name; });
  }

  /// The value of `key` as a T (see GgufValue::to). Throws FormatError when the key is missing or
  /// its value is not a T.
  template <class T>
  T get(std::string_view key) const {
    const GgufValue* value = find(key);
    if (value == nullptr) fail("missing key", key, expected<T>(), {});
    std::optional<T> result = value->to<T>();
    if (!result) fail("wrong value", key, expected<T>(), value->describe());
    return *std::move(result);
  }

  /// The value of `key` as a T, or `otherwise` when the key is missing. Throws FormatError when it
  /// is there and not a T.
  template <class T>
  T get_or(std::string_view key, T otherwise) const {
    return find(key) != nullptr ? get<T>(key) : std::move(otherwise);
  }

  /// The tensor called `name`. Throws FormatError when there is none.
  const GgufTensor& tensor(std::string_view name) const {
    const GgufTensor* found = find_tensor(name);
    if (found == nullptr) fail("missing tensor", name, {}, {});
    return *found;
  }

  /// Keeps the bytes of a file that `open` opened; empty after `parse`.
  const Owner& owner() const { return owner_; }

 private:
  GgufFile() = default;

  template <class List, class NameOf>
  static auto look_up(const List& list, const std::vector<std::uint32_t>& order,
                      std::string_view name, NameOf name_of) -> const typename List::value_type* {
    const auto at = std::lower_bound(
        order.begin(), order.end(), name,
        [&](std::uint32_t i, std::string_view wanted) { return name_of(list[i]) < wanted; });
    return at != order.end() && name_of(list[*at]) == name ? &list[*at] : nullptr;
  }

  [[noreturn]] void fail(const char* problem, std::string_view subject, std::string expected,
                         std::string got) const {
    raise(FormatError({.file = name_,
                       .problem = problem,
                       .tensor = printable(subject),
                       .expected = std::move(expected),
                       .got = std::move(got)}));
  }

  /// What a value must be to be read as a T, in the words of the format.
  template <class T>
  static std::string expected() {
    if constexpr (gguf_value::is_vector<T>) {
      return "ARRAY of " + expected<typename T::value_type>();
    } else if constexpr (std::is_arithmetic_v<T>) {
      const char* type = imbrex::name(gguf_type_of<T>());
      return std::is_integral_v<T> && !std::is_same_v<T, bool> ? "a value of " + std::string(type)
                                                               : type;
    } else {
      return imbrex::name(GgufValueType::string);
    }
  }

  std::string name_;
  Owner owner_;
  GgufContents contents_;
};

}  // namespace imbrex::inline IMBREX_ABI
