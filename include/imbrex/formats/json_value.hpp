// One value of a JSON document: a view of the tree that "imbrex/formats/json.hpp" reads.
//
// The tree is one flat list of nodes, each followed by what it contains, so that it takes no
// recursion to build, to copy or to destroy, whatever a file contains.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What a value is. A number written without fraction and exponent that fits index_t is an
/// integer; all others are real.
enum class JsonType : std::uint8_t { null, boolean, integer, real, text, array, object };

/// The name of a type: "object".
constexpr const char* name(JsonType type) {
  constexpr const char* names[] = {"NULL", "BOOL", "INTEGER", "REAL", "TEXT", "ARRAY", "OBJECT"};
  return names[static_cast<int>(type)];
}

namespace json_tree {

struct Node {
  JsonType type;
  std::uint32_t count = 0;  ///< bytes of a text, elements of an array, members of an object
  std::uint32_t end = 0;    ///< the node behind this one and all that it contains
  std::int64_t bits = 0;    ///< a number; where a text is in `texts`, an object in `order`
};

/// A member of an object is two nodes: a text, its key, and its value.
struct Tree {
  std::string file;
  std::vector<Node> nodes;
  std::string texts;                 ///< all texts, one behind the other
  std::vector<std::uint32_t> order;  ///< the keys of each object, sorted

  std::string_view text(std::uint32_t at) const {
    const Node& node = nodes[at];
    return std::string_view(texts).substr(static_cast<std::size_t>(node.bits), node.count);
  }

  /// "rope_scaling.factor", "layers[3]"; empty for the root.
  std::string path(std::uint32_t target) const {
    std::string result;
    for (std::uint32_t at = 0; at != target;) {
      const bool object = nodes[at].type == JsonType::object;
      std::uint32_t child = at + 1, position = 0;
      const auto value = [&] { return object ? child + 1 : child; };
      for (; nodes[value()].end <= target; child = nodes[value()].end) ++position;
      if (object) {
        if (!result.empty()) result += ".";
        result += printable(text(child));
      } else {
        (result += "[").append(std::to_string(position)).append("]");
      }
      at = value();
    }
    return result;
  }
};

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

/// What a value must be to be read as a T.
template <class T>
std::string expected() {
  if constexpr (is_vector<T>) {
    return "ARRAY of " + expected<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return name(JsonType::boolean);
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else if constexpr (std::is_integral_v<T>) {
    return "an integer of " + std::to_string((std::numeric_limits<T>::min)()) + " to " +
           std::to_string((std::numeric_limits<T>::max)());
  } else {
    return name(JsonType::text);
  }
}

}  // namespace json_tree

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

struct JsonMember;

/// A value of a document, which must outlive it.
class JsonValue {
 public:
  JsonValue(const json_tree::Tree& tree, std::uint32_t at) : tree_(&tree), at_(at) {}

  /// Null, a boolean, a number, a string, an array or an object.
  JsonType type() const { return node().type; }
  bool is_null() const { return type() == JsonType::null; }
  /// How many elements an array or members an object has; 0 for anything else.
  index_t size() const { return is_container() ? node().count : 0; }

  /// The value as a T: an integer type (from any number that is whole and that T can hold, 1e6 and
  /// 4096.0 among them), float or double (from any number; nothing where it is beyond T), bool,
  /// std::string_view (into the document), std::string, or a std::vector of one of these (from an
  /// array). Nothing where the value is not such.
  template <class T>
  std::optional<T> to() const {
    if constexpr (json_tree::is_vector<T>) {
      return to_vector<T>();
    } else if constexpr (std::is_same_v<T, bool>) {
      return type() == JsonType::boolean ? std::optional<bool>(node().bits != 0) : std::nullopt;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return to_number<T>();
    } else {
      static_assert(std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>,
                    "a number, bool, string, or a std::vector of these");
      if (type() != JsonType::text) return std::nullopt;
      return T(tree_->text(at_));
    }
  }

  /// The same; throws FormatError, with the value's path in the file, where it is not a T.
  template <class T>
  T as() const {
    std::optional<T> result = to<T>();
    if (!result) fail("wrong value", tree_->path(at_), json_tree::expected<T>(), describe());
    return *std::move(result);
  }

  /// The member of an object that is called `key`; nothing where there is none, or no object.
  std::optional<JsonValue> find(std::string_view key) const {
    if (type() != JsonType::object) return std::nullopt;
    const auto begin = tree_->order.begin() + static_cast<std::ptrdiff_t>(node().bits);
    const auto end = begin + static_cast<std::ptrdiff_t>(node().count);
    const auto found = std::lower_bound(
        begin, end, key,
        [this](std::uint32_t at, std::string_view wanted) { return tree_->text(at) < wanted; });
    if (found == end || tree_->text(*found) != key) return std::nullopt;
    return JsonValue(*tree_, *found + 1);
  }

  /// The member called `key`. Throws FormatError when there is none.
  JsonValue at(std::string_view key) const {
    const std::optional<JsonValue> found = find(key);
    if (!found) fail("missing key", path_of(key), {}, {});
    return *found;
  }

  /// The member called `key` as a T. Throws FormatError when it is missing or not a T.
  template <class T>
  T get(std::string_view key) const {
    const std::optional<JsonValue> found = find(key);
    if (!found) fail("missing key", path_of(key), json_tree::expected<T>(), {});
    return found->as<T>();
  }

  /// The member called `key` as a T, or `otherwise` when it is missing or null, as configurations
  /// write what they leave open. Throws FormatError when it is there and not a T.
  template <class T>
  T get_or(std::string_view key, T otherwise) const {
    const std::optional<JsonValue> found = find(key);
    return found && !found->is_null() ? found->as<T>() : std::move(otherwise);
  }

  /// The elements of an array; empty for anything else.
  std::vector<JsonValue> elements() const {
    std::vector<JsonValue> result;
    if (type() != JsonType::array) return result;
    result.reserve(node().count);
    for (std::uint32_t at = at_ + 1; at < node().end; at = tree_->nodes[at].end) {
      result.emplace_back(*tree_, at);
    }
    return result;
  }

  /// The members of an object, in the file's order; empty for anything else.
  std::vector<JsonMember> members() const;

  /// "INTEGER 7", "TEXT \"llama\"", "ARRAY of 3": for messages and listings.
  std::string describe() const {
    const std::string prefix = std::string(imbrex::name(type())) + " ";
    if (is_null()) return imbrex::name(type());
    if (is_container()) return prefix + "of " + std::to_string(size());
    if (type() == JsonType::text) return prefix + "\"" + printable(tree_->text(at_), 40) + "\"";
    if (type() == JsonType::boolean) return prefix + (node().bits != 0 ? "true" : "false");
    if (type() == JsonType::integer) return prefix + std::to_string(node().bits);
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.9g", std::bit_cast<double>(node().bits));
    return prefix + digits;
  }

 private:
  const json_tree::Node& node() const { return tree_->nodes[at_]; }
  bool is_container() const { return type() == JsonType::array || type() == JsonType::object; }

  template <class T>
  std::optional<T> to_number() const {
    if (type() == JsonType::integer) {
      if constexpr (std::is_floating_point_v<T>) return static_cast<T>(node().bits);
      if constexpr (std::is_integral_v<T>) {
        if (std::in_range<T>(node().bits)) return static_cast<T>(node().bits);
      }
    }
    if (type() != JsonType::real) return std::nullopt;
    const double x = std::bit_cast<double>(node().bits);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::fabs(x) <= (std::numeric_limits<T>::max)()) return static_cast<T>(x);
    } else {
      constexpr double exact = 9007199254740992;  // 2^53: beyond, it may have been rounded
      if (std::fabs(x) <= exact && std::trunc(x) == x) {
        const index_t whole = static_cast<index_t>(x);
        if (std::in_range<T>(whole)) return static_cast<T>(whole);
      }
    }
    return std::nullopt;
  }

  template <class T>
  std::optional<T> to_vector() const {
    if (type() != JsonType::array) return std::nullopt;
    T result;
    for (std::uint32_t at = at_ + 1; at < node().end; at = tree_->nodes[at].end) {
      auto x = JsonValue(*tree_, at).template to<typename T::value_type>();
      if (!x) return std::nullopt;
      result.push_back(*std::move(x));
    }
    return result;
  }

  std::string path_of(std::string_view key) const {
    const std::string path = tree_->path(at_);
    return (path.empty() ? "" : path + ".") + printable(key);
  }

  [[noreturn]] void fail(const char* problem, std::string path, std::string expected,
                         std::string got) const {
    raise(FormatError({.file = tree_->file,
                       .problem = problem,
                       .tensor = std::move(path),
                       .expected = std::move(expected),
                       .got = std::move(got)}));
  }

  const json_tree::Tree* tree_;
  std::uint32_t at_;
};

/// A member of an object.
struct JsonMember {
  std::string_view key;
  JsonValue value;
};

inline std::vector<JsonMember> JsonValue::members() const {
  std::vector<JsonMember> result;
  if (type() != JsonType::object) return result;
  result.reserve(node().count);
  for (std::uint32_t at = at_ + 1; at < node().end; at = tree_->nodes[at + 1].end) {
    result.push_back({tree_->text(at), JsonValue(*tree_, at + 1)});
  }
  return result;
}

}  // namespace imbrex::inline IMBREX_ABI
