// One metadata value of a GGUF file: a view of its bytes, with its type.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The types of metadata, by the number that stands in the file.
enum class GgufValueType : std::uint32_t {
  uint8 = 0,
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

/// How many types of values there are.
inline constexpr std::uint32_t gguf_value_type_count = 13;

/// The name of a type, as the format spells it: "UINT32".
constexpr const char* name(GgufValueType type) {
  constexpr const char* names[gguf_value_type_count] = {
      "UINT8", "INT8",   "UINT16", "INT16",  "UINT32", "INT32",  "FLOAT32",
      "BOOL",  "STRING", "ARRAY",  "UINT64", "INT64",  "FLOAT64"};
  return names[static_cast<std::uint32_t>(type)];
}

/// Bytes of a value of a type of fixed size; 0 for strings and arrays.
constexpr index_t fixed_bytes(GgufValueType type) {
  constexpr index_t bytes[gguf_value_type_count] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return bytes[static_cast<std::uint32_t>(type)];
}

/// The fewest bytes a value can take: a string's length, an array's element type and count.
constexpr index_t least_bytes(GgufValueType type) {
  if (type == GgufValueType::string) return 8;
  if (type == GgufValueType::array) return 12;
  return fixed_bytes(type);
}

/// The type that a C++ number is stored as.
template <class T>
constexpr GgufValueType gguf_type_of() {
  using enum GgufValueType;
  if constexpr (std::is_same_v<T, bool>) {
    return boolean;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float or double");
    return sizeof(T) == 4 ? float32 : float64;
  } else {
    static_assert(std::is_integral_v<T>, "a number");
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1:
        return is_signed ? int8 : uint8;
      case 2:
        return is_signed ? int16 : uint16;
      case 4:
        return is_signed ? int32 : uint32;
      default:
        return is_signed ? int64 : uint64;
    }
  }
}

namespace gguf_value {

/// The number at `bytes`, which may have any alignment.
template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

/// Calls visit(x) with the integer of type `type` at `bytes`; false when it is not an integer.
template <class Visit>
bool visit_integer(GgufValueType type, const std::byte* bytes, Visit visit) {
  switch (type) {
    case GgufValueType::uint8:
      return visit(load<std::uint8_t>(bytes));
    case GgufValueType::int8:
      return visit(load<std::int8_t>(bytes));
    case GgufValueType::uint16:
      return visit(load<std::uint16_t>(bytes));
    case GgufValueType::int16:
      return visit(load<std::int16_t>(bytes));
    case GgufValueType::uint32:
      return visit(load<std::uint32_t>(bytes));
    case GgufValueType::int32:
      return visit(load<std::int32_t>(bytes));
    case GgufValueType::uint64:
      return visit(load<std::uint64_t>(bytes));
    case GgufValueType::int64:
      return visit(load<std::int64_t>(bytes));
    default:
      return false;
  }
}

/// Whether x, of any integer type, is a value of the integer type T.
template <class T, class X>
constexpr bool fits(X x) {
  if constexpr (std::is_signed_v<X>) {
    if (x < 0) {
      return std::is_signed_v<T> &&
             std::int64_t{x} >= std::int64_t{(std::numeric_limits<T>::min)()};
    }
  }
  return static_cast<std::uint64_t>(x) <=
         static_cast<std::uint64_t>((std::numeric_limits<T>::max)());
}

}  // namespace gguf_value

/// A metadata value. It points into the file's bytes, which must outlive it; whoever makes one has
/// checked that `payload` is exactly the value's encoding.
class GgufValue {
 public:
  /// A number, bool or string; for an array `payload` starts after element type and count.
  GgufValue(GgufValueType type, std::span<const std::byte> payload)
      : type_(type), payload_(payload) {}

  /// An array of `count` elements.
  static GgufValue array(GgufValueType element_type, index_t count,
                         std::span<const std::byte> payload) {
    GgufValue value(GgufValueType::array, payload);
    value.element_type_ = element_type;
    value.count_ = count;
    return value;
  }

  /// What the file calls the value's type.
  GgufValueType type() const { return type_; }
  /// The type of an array's elements; of anything else its own type.
  GgufValueType element_type() const {
    return type_ == GgufValueType::array ? element_type_ : type_;
  }
  /// How many elements an array has; 1 for anything else.
  index_t count() const { return count_; }
  /// The encoded value; of an array, its encoded elements one after the other.
  std::span<const std::byte> payload() const { return payload_; }

  /// The value as a T: an integer type (from any integer that T can hold), float or double (from
  /// FLOAT32 or FLOAT64; nothing where a finite double is beyond float), bool, std::string_view
  /// (into the file), std::string, or a std::vector of one of these (from an array; an empty array
  /// is a vector of anything). Nothing where the value is not such.
  template <class T>
  std::optional<T> to() const {
    if constexpr (gguf_value::is_vector<T>) {
      return to_vector<typename T::value_type>();
    } else if constexpr (std::is_arithmetic_v<T>) {
      return number<T>(type_, payload_.data());
    } else {
      static_assert(std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>,
                    "a number, bool, string, or a std::vector of these");
      if (type_ != GgufValueType::string) return std::nullopt;
      return T(string_at(payload_.data()));
    }
  }

  /// The elements of an array, arrays among them; empty for anything else.
  std::vector<GgufValue> elements() const;

  /// "UINT32 7", "STRING \"llama\"", "ARRAY of 49152 STRING": for messages and listings.
  std::string describe() const;

 private:
  template <class T>
  static std::optional<T> number(GgufValueType type, const std::byte* bytes) {
    std::optional<T> result;
    if constexpr (std::is_same_v<T, bool>) {
      if (type == GgufValueType::boolean) result = *bytes != std::byte{0};
    } else if constexpr (std::is_floating_point_v<T>) {
      if (type == GgufValueType::float32) result = gguf_value::load<float>(bytes);
      if (type == GgufValueType::float64) {
        const double x = gguf_value::load<double>(bytes);
        const bool beyond = std::isfinite(x) && std::fabs(x) > (std::numeric_limits<T>::max)();
        if (!beyond) result = static_cast<T>(x);
      }
    } else {
      gguf_value::visit_integer(type, bytes, [&result](auto x) {
        if (gguf_value::fits<T>(x)) result = static_cast<T>(x);
        return true;
      });
    }
    return result;
  }

  static std::string_view string_at(const std::byte* bytes) {
    return {reinterpret_cast<const char*>(bytes) + 8,
            static_cast<std::size_t>(gguf_value::load<std::uint64_t>(bytes))};
  }

  /// Whether values of `type` can be a T at all.
  template <class T>
  static constexpr bool converts(GgufValueType type) {
    if constexpr (std::is_same_v<T, bool>) {
      return type == GgufValueType::boolean;
    } else if constexpr (std::is_floating_point_v<T>) {
      return type == GgufValueType::float32 || type == GgufValueType::float64;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return fixed_bytes(type) != 0 && type != GgufValueType::boolean &&
             type != GgufValueType::float32 && type != GgufValueType::float64;
    } else {
      return type == GgufValueType::string;
    }
  }

  /// Judges the elements' type before there is memory for any: an array of millions is refused for
  /// nothing.
  template <class T>
  std::optional<std::vector<T>> to_vector() const {
    if (type_ != GgufValueType::array) return std::nullopt;
    std::vector<T> result;
    if (count_ == 0) return result;
    if (!converts<T>(element_type_)) return std::nullopt;
    result.reserve(static_cast<std::size_t>(count_));
    const std::byte* next = payload_.data();
    for (index_t i = 0; i < count_; ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        const std::optional<T> x = number<T>(element_type_, next);
        if (!x) return std::nullopt;
        result.push_back(*x);
        next += fixed_bytes(element_type_);
      } else {
        const std::string_view text = string_at(next);
        result.emplace_back(text);
        next += 8 + text.size();
      }
    }
    return result;
  }

  GgufValueType type_;
  GgufValueType element_type_ = GgufValueType::uint8;
  index_t count_ = 1;
  std::span<const std::byte> payload_;
};

namespace gguf_value {

/// The value of type `type` whose encoding starts at `bytes`, and ends where its payload does.
/// The bytes were checked before.
inline GgufValue value_at(GgufValueType type, const std::byte* bytes) {
  if (type == GgufValueType::string) {
    return {type, {bytes, static_cast<std::size_t>(load<std::uint64_t>(bytes)) + 8}};
  }
  if (type != GgufValueType::array) {
    return {type, {bytes, static_cast<std::size_t>(fixed_bytes(type))}};
  }
  const auto element_type = static_cast<GgufValueType>(load<std::uint32_t>(bytes));
  const auto count = static_cast<index_t>(load<std::uint64_t>(bytes + 4));
  const std::byte* end = bytes + 12;
  if (fixed_bytes(element_type) != 0) {
    end += count * fixed_bytes(element_type);
  } else {
    for (index_t i = 0; i < count; ++i) {
      const std::span<const std::byte> element = value_at(element_type, end).payload();
      end = element.data() + element.size();
    }
  }
  return GgufValue::array(element_type, count, {bytes + 12, end});
}

}  // namespace gguf_value

inline std::vector<GgufValue> GgufValue::elements() const {
  std::vector<GgufValue> result;
  if (type_ != GgufValueType::array) return result;
  result.reserve(static_cast<std::size_t>(count_));
  const std::byte* next = payload_.data();
  for (index_t i = 0; i < count_; ++i) {
    result.push_back(gguf_value::value_at(element_type_, next));
    const std::span<const std::byte> element = result.back().payload();
    next = element.data() + element.size();
  }
  return result;
}

inline std::string GgufValue::describe() const {
  const std::string prefix = std::string(name(type_)) + " ";
  if (type_ == GgufValueType::array) {
    return prefix + "of " + std::to_string(count_) + " " + name(element_type_);
  }
  if (const auto text = to<std::string_view>()) return prefix + "\"" + printable(*text, 40) + "\"";
  if (const auto flag = to<bool>()) return prefix + (*flag ? "true" : "false");
  if (const auto x = to<std::int64_t>()) return prefix + std::to_string(*x);
  if (const auto x = to<std::uint64_t>()) return prefix + std::to_string(*x);
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.9g", *to<double>());
  return prefix + digits;
}

}  // namespace imbrex::inline IMBREX_ABI
