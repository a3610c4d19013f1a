// JSON documents (RFC 8259), read with nlohmann-json's SAX parser: the one door to that library.
//
// SAX rather than its own tree: a key that stands twice in an object is an error there, not the
// last one's silent victory; and depth and number of values are bounded while they are read. The
// parser tells of its own errors by a call instead of throwing, so all errors are raise()'s, also
// where there are no exceptions. They pass through the parser, which holds nothing but objects that
// clean up after themselves.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"
#include "imbrex/formats/json_value.hpp"
#include "imbrex/formats/mapped_file.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The most that a document may contain. A value takes 24 bytes, beside its text; of each of the
/// three, 2^32 - 1 is the most there can be.
struct JsonLimits {
  index_t bytes = 100'000'000;
  index_t values = 10'000'000;  ///< keys counted
  index_t depth = 64;           ///< arrays and objects around a value
};

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::json_tree::inline IMBREX_ABI {

/// Makes a tree of the parser's events.
class Builder {
 public:
  Builder(Tree& tree, JsonLimits limits) : tree_(tree), limits_(limits) {}

  bool null() { return add({.type = JsonType::null}); }
  bool boolean(bool x) { return add({.type = JsonType::boolean, .bits = x ? 1 : 0}); }
  bool number_integer(std::int64_t x) { return add({.type = JsonType::integer, .bits = x}); }
  bool number_unsigned(std::uint64_t x) {
    if (x > std::uint64_t{(std::numeric_limits<std::int64_t>::max)()}) {
      return number_float(static_cast<double>(x), {});
    }
    return number_integer(static_cast<std::int64_t>(x));
  }
  bool number_float(double x, const std::string&) {
    return add({.type = JsonType::real, .bits = std::bit_cast<std::int64_t>(x)});
  }
  bool string(std::string& text) {
    count_element();
    return add_text(text);
  }
  bool binary(const nlohmann::json::binary_t&) { return false; }  // is not in text

  bool start_array(std::size_t) { return open(JsonType::array); }
  bool end_array() { return close(); }
  bool start_object(std::size_t) { return open(JsonType::object); }
  bool key(std::string& text) {
    ++tree_.nodes[open_.back()].count;
    return add_text(text);
  }
  bool end_object() {
    sort_keys(open_.back());
    return close();
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) {
    constexpr int number_overflow = 406;  // the library's own number; the grammar has no such limit
    if (error.id == number_overflow) {
      raise(FormatError({.file = tree_.file,
                         .problem = "a number beyond double",
                         .tensor = {},
                         .offset = static_cast<index_t>(position - token.size()),
                         .expected = "a magnitude of at most 1.7976931348623157e308",
                         .got = printable(token)}));
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
    std::string_view what = error.what();
    if (what.starts_with('[')) skip_through(what, "] ");
    if (what.starts_with("parse error")) skip_through(what, ": ");
    raise(FormatError({.file = tree_.file,
                       .problem = "is not JSON (" + printable(what, 200) + ")",
                       .tensor = {},
                       .offset = static_cast<index_t>(position) - 1,
                       .expected = {},
                       .got = {}}));
  }

 private:
  static std::uint32_t narrow(std::size_t x) { return static_cast<std::uint32_t>(x); }

  static void skip_through(std::string_view& text, std::string_view end) {
    const std::size_t at = text.find(end);
    if (at != text.npos) text.remove_prefix(at + end.size());
  }

  void check(index_t limit, std::size_t got, const char* unit) const {
    if (limit >= 0 && got <= static_cast<std::size_t>(limit)) return;
    raise(FormatError({.file = tree_.file,
                       .problem = "is too large",
                       .tensor = {},
                       .expected = "at most " + std::to_string(limit) + " " + unit,
                       .got = "more"}));
  }

  /// The elements of an array are counted one by one; the members of an object by their keys.
  void count_element() {
    if (open_.empty()) return;
    Node& parent = tree_.nodes[open_.back()];
    if (parent.type == JsonType::array) ++parent.count;
  }

  bool add(Node node) {
    count_element();
    append(node);
    return true;
  }

  void append(Node node) {
    check(limits_.values, tree_.nodes.size() + 1, "values");
    node.end = narrow(tree_.nodes.size() + 1);
    tree_.nodes.push_back(node);
  }

  bool add_text(const std::string& text) {
    append({.type = JsonType::text,
            .count = narrow(text.size()),
            .bits = static_cast<std::int64_t>(tree_.texts.size())});
    tree_.texts += text;
    return true;
  }

  bool open(JsonType type) {
    check(limits_.depth, open_.size() + 1, "levels");
    add({.type = type});
    open_.push_back(narrow(tree_.nodes.size() - 1));
    return true;
  }

  bool close() {
    tree_.nodes[open_.back()].end = narrow(tree_.nodes.size());
    open_.pop_back();
    return true;
  }

  void sort_keys(std::uint32_t object) {
    Node& node = tree_.nodes[object];
    node.bits = static_cast<std::int64_t>(tree_.order.size());
    for (std::uint32_t at = object + 1; at < tree_.nodes.size(); at = tree_.nodes[at + 1].end) {
      tree_.order.push_back(at);
    }
    const auto begin = tree_.order.begin() + static_cast<std::ptrdiff_t>(node.bits);
    const auto end = tree_.order.end();
    const auto text = [this](std::uint32_t at) { return tree_.text(at); };
    std::sort(begin, end, [&](auto a, auto b) { return text(a) < text(b); });
    const auto twice =
        std::adjacent_find(begin, end, [&](auto a, auto b) { return text(a) == text(b); });
    if (twice == end) return;
    node.end = narrow(tree_.nodes.size());
    for (const std::uint32_t outer : open_) tree_.nodes[outer].end = node.end;  // for path()
    raise(FormatError({.file = tree_.file,
                       .problem = "duplicate key",
                       .tensor = tree_.path(*twice + 1),
                       .expected = {},
                       .got = {}}));
  }

  Tree& tree_;
  JsonLimits limits_;
  std::vector<std::uint32_t> open_;  ///< the arrays and objects around what comes next
};

inline void read(std::string_view text, JsonLimits limits, Tree& tree) {
  const auto refuse = [&tree](std::string problem, index_t offset, std::string expected,
                              std::string got) {
    raise(FormatError({.file = tree.file,
                       .problem = std::move(problem),
                       .tensor = {},
                       .offset = offset,
                       .expected = std::move(expected),
                       .got = std::move(got)}));
  };
  constexpr index_t most = (std::numeric_limits<std::uint32_t>::max)();
  limits.bytes = lesser(limits.bytes, most);
  limits.values = lesser(limits.values, most);
  const index_t size = static_cast<index_t>(text.size());
  if (size > limits.bytes) {
    refuse("is too large", -1, "at most " + std::to_string(limits.bytes) + " bytes",
           std::to_string(size) + " bytes");
  }
  // The parser takes a zero byte for the end, and would not look at what is behind it.
  const std::size_t zero = text.find('\0');
  if (zero != text.npos) refuse("is not JSON (a zero byte)", static_cast<index_t>(zero), {}, {});
  Builder builder(tree, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
}

}  // namespace imbrex::json_tree::inline IMBREX_ABI

namespace imbrex::inline IMBREX_ABI {

/// A JSON document, read and checked as a whole. Move-only; its values live as long as it does,
/// also when it is moved; so they are not to be had from a document that is a temporary.
class Json {
 public:
  /// Throws FormatError when the file cannot be opened, is not JSON in UTF-8, has a key twice in
  /// one object, or exceeds a limit.
  static Json open(const std::string& path, JsonLimits limits = {}) {
    const MappedFile file(path);
    const std::span<const std::byte> bytes = file.bytes();
    return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, limits);
  }

  /// The same for a text in memory, which is not needed any more afterwards. `name` stands for the
  /// file in errors.
  static Json parse(std::string_view text, std::string name, JsonLimits limits = {}) {
    Json result;
    result.tree_->file = std::move(name);
    json_tree::read(text, limits, *result.tree_);
    return result;
  }

  /// The document's value, and the name that errors give the file. Throw Error when the document
  /// was moved to another.
  JsonValue root() const& { return {tree(), 0}; }
  const std::string& name() const& { return tree().file; }
  JsonValue root() const&& = delete;
  const std::string& name() const&& = delete;

 private:
  Json() : tree_(std::make_unique<json_tree::Tree>()) {}

  const json_tree::Tree& tree() const {
    if (!tree_) raise(Error("Json: this document is empty: it was moved to another"));
    return *tree_;
  }

  std::unique_ptr<json_tree::Tree> tree_;
};

}  // namespace imbrex::inline IMBREX_ABI
