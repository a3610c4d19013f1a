// Any bytes as a JSON document: FormatError, or the same values that nlohmann-json's own tree has.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "imbrex/formats/json.hpp"
#include "tests/fuzz/input.hpp"

using namespace imbrex;
using fuzz::require;

namespace {

using Tree = nlohmann::json;

void compare(const JsonValue& value, const Tree& tree);

void compare_members(const JsonValue& value, const Tree& tree) {
  for (const JsonMember& member : value.members()) {
    const auto at = tree.find(std::string(member.key));
    require(at != tree.end(), "a member is in the tree");
    const std::optional<JsonValue> found = value.find(member.key);
    require(found && found->describe() == member.value.describe(), "a member is found by its key");
    compare(member.value, *at);
  }
}

void compare_elements(const JsonValue& value, const Tree& tree) {
  const std::vector<JsonValue> elements = value.elements();
  for (std::size_t i = 0; i < elements.size(); ++i) compare(elements[i], tree[i]);
}

/// Asks for everything that a value might be.
void convert(const JsonValue& value) {
  value.describe();
  value.to<bool>();
  value.to<std::int8_t>();
  value.to<std::uint64_t>();
  value.to<float>();
  value.to<std::vector<index_t>>();
  value.to<std::vector<double>>();
  value.to<std::vector<std::string>>();
}

void compare(const JsonValue& value, const Tree& tree) {
  convert(value);
  switch (value.type()) {
    case JsonType::null:
      return require(tree.is_null(), "null is null");
    case JsonType::boolean:
      return require(tree.is_boolean() && value.as<bool>() == tree.get<bool>(), "a truth value");
    case JsonType::integer:
      return require(tree.is_number_integer() && value.as<index_t>() == tree.get<index_t>(),
                     "a whole number");
    case JsonType::real:
      return require(tree.is_number() && value.as<double>() == tree.get<double>(), "a number");
    case JsonType::text:
      return require(tree.is_string() && value.as<std::string>() == tree.get<std::string>(),
                     "a text");
    case JsonType::array:
      require(tree.is_array() && static_cast<std::size_t>(value.size()) == tree.size(),
              "an array has as many elements");
      return compare_elements(value, tree);
    case JsonType::object:
      require(tree.is_object() && static_cast<std::size_t>(value.size()) == tree.size(),
              "an object has as many members");
      return compare_members(value, tree);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Tree tree = Tree::parse(text.begin(), text.end(), nullptr, false);
  std::optional<Json> document;
  try {
    document.emplace(Json::parse(text, "fuzz", {.bytes = 4096, .values = 1000, .depth = 20}));
  } catch (const FormatError& error) {
    const std::string& problem = error.fault().problem;
    const bool stricter =
        problem == "duplicate key" || problem == "is too large" || text.find('\0') != text.npos;
    require(tree.is_discarded() || stricter, "what is JSON is read");
    return 0;
  }
  require(!tree.is_discarded(), "what is not JSON is refused");
  compare(document->root(), tree);
  return 0;
}
