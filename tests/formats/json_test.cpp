// JSON. Right values: RFC 8259 (its examples and its grammar); the configurations of published
// models write what is left open, and large numbers, in the ways tested here.
#include "imbrex/json.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/formats/scratch_directory.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

Json parse(std::string_view text, JsonLimits limits = {}) {
  return Json::parse(text, "x.json", limits);
}

std::string fault(std::string_view text, JsonLimits limits = {}) {
  return message_of<FormatError>([&] { parse(text, limits); });
}

bool is_json(std::string_view text) { return fault(text) == "(nothing was thrown)"; }

template <class T>
std::optional<T> number(std::string_view text) {
  const Json document = parse(text);
  return document.root().to<T>();
}

/// Whether values and names can be had of a document: of a temporary they would not live.
template <class T>
concept has_root = requires(T&& document) { std::forward<T>(document).root(); };
template <class T>
concept has_name = requires(T&& document) { std::forward<T>(document).name(); };

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// RFC 8259, section 13.
const char* image = R"({
      "Image": {
          "Width":  800,
          "Height": 600,
          "Title":  "View from 15th Floor",
          "Thumbnail": {
              "Url":    "http://www.example.com/image/481989943",
              "Height": 125,
              "Width":  100
          },
          "Animated" : false,
          "IDs": [116, 943, 234, 38793]
        }
    })";

const char* places = R"([
      {"precision": "zip", "Latitude": 37.7668, "Longitude": -122.3959, "Zip": "94107"},
      {"precision": "zip", "Latitude": 37.371991, "Longitude": -122.026020, "Zip": "94085"}
    ])";

}  // namespace

TEST_CASE("json: the examples of RFC 8259") {
  const Json document = parse(image);
  const JsonValue root = document.root(), picture = root.at("Image");
  CHECK(root.type() == JsonType::object);
  CHECK(root.size() == 1);
  CHECK(picture.size() == 6);
  CHECK(picture.get<int>("Width") == 800);
  CHECK(picture.get<std::string_view>("Title") == "View from 15th Floor");
  CHECK(picture.at("Thumbnail").get<double>("Height") == 125);
  CHECK_FALSE(picture.get<bool>("Animated"));
  CHECK(picture.get<std::vector<index_t>>("IDs") == std::vector<index_t>{116, 943, 234, 38793});
  const std::vector<JsonMember> members = picture.members();
  REQUIRE(members.size() == 6);
  CHECK(members[3].key == "Thumbnail");
  CHECK(members[3].value.members()[2].key == "Width");
  CHECK(members[4].key == "Animated");

  const Json list = parse(places);
  const std::vector<JsonValue> both = list.root().elements();
  REQUIRE(both.size() == 2);
  CHECK(both[1].get<double>("Longitude") == -122.026020);
  CHECK(both[1].get<std::string>("Zip") == "94085");

  for (const char* text : {"\"Hello world!\"", "42", "true"}) CHECK(is_json(text));
}

TEST_CASE("json: any value is a document") {
  for (const char* text : {"null", " \t\r\n0 ", "-0.5e-3", "[]", "{}", "[[],{}]", "\"\"",
                           "{\"\": {\"\": []}}", "\xEF\xBB\xBF{}"}) {
    CHECK_MESSAGE(is_json(text), text);
  }
}

TEST_CASE("json: what the grammar does not have is refused") {
  for (const char* text : {"",           " ",        "{",
                           "[",          "\"",       "[1,]",
                           "{\"a\":1,}", "{\"a\"}",  "{a:1}",
                           "{1:1}",      "{'a':1}",  "[1 2]",
                           "[1]]",       "{}{}",     "1 1",
                           "01",         "+1",       ".5",
                           "1.",         "1e",       "0x10",
                           "-",          "NaN",      "Infinity",
                           "-Infinity",  "nul",      "True",
                           "[1]//",      "/* */1",   "\"\\x41\"",
                           "\"\\u12\"",  "\"a\nb\"", "\"tab\there\"",
                           "]",          "}",        ",",
                           ":"}) {
    CHECK_MESSAGE(!is_json(text), text);
  }
  // A zero byte, where the parser would see the end; and bytes that are not UTF-8.
  CHECK(fault(std::string_view("{}\0{", 4)) == "x.json: is not JSON (a zero byte) at byte 2");
  for (const char* text : {"\"\xFF\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
                           "\"\xE2\x82\"", "\xFF"}) {
    CHECK_FALSE(is_json(text));
  }
  // Surrogates that are no pair.
  for (const char* text : {R"("\ud834")", R"("\udd1e")", R"("\ud834\ud834")", R"("\ud834x")"}) {
    CHECK_FALSE(is_json(text));
  }
}

TEST_CASE("json: errors say where, in one line, whatever is in the file") {
  CHECK(fault("{") ==
        "x.json: is not JSON (syntax error while parsing object key - unexpected end of input; "
        "expected string literal) at byte 1");
  CHECK(fault("[1: 2]") ==
        "x.json: is not JSON (syntax error while parsing array - unexpected ':'; expected ']') at "
        "byte 2");
  CHECK(fault("[1, 2, x]").ends_with(" at byte 7"));
  const std::string hostile = fault("[\"\x1B[31m\", \n");
  CHECK(hostile.find('\x1B') == hostile.npos);
  CHECK(hostile.find('\n') == hostile.npos);
  CHECK(fault("[\"" + repeated("long ", 10000)).size() < 300);
}

TEST_CASE("json: escapes") {
  const auto text = [](const char* json) {
    const Json document = parse(json);
    return document.root().as<std::string>();
  };
  CHECK(text(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(text(R"("\u00e9\u20AC")") == "\xC3\xA9\xE2\x82\xAC");
  CHECK(text(R"("\uD834\uDD1E")") == "\xF0\x9D\x84\x9E");  // RFC 8259, section 7
  CHECK(text(R"("a\u0000b")") == std::string("a\0b", 3));
}

TEST_CASE("json: numbers are read as what they are asked for, exactly or not at all") {
  CHECK(number<index_t>("9223372036854775807") == std::numeric_limits<index_t>::max());
  CHECK(number<index_t>("-9223372036854775808") == std::numeric_limits<index_t>::min());
  CHECK_FALSE(number<index_t>("9223372036854775808"));
  CHECK_FALSE(number<index_t>("18446744073709551616"));
  CHECK(number<double>("18446744073709551616") == 18446744073709551616.0);
  CHECK(number<std::int8_t>("-128") == -128);
  CHECK_FALSE(number<std::int8_t>("128"));
  CHECK(number<std::uint32_t>("4294967295") == 4294967295u);
  CHECK_FALSE(number<std::uint32_t>("-1"));

  // Configurations write integers as 1e6 and 4096.0.
  CHECK(number<index_t>("1e6") == 1000000);
  CHECK(number<int>("4096.0") == 4096);
  CHECK(number<index_t>("-0.0") == 0);
  CHECK_FALSE(number<int>("0.5"));
  CHECK(number<index_t>("9007199254740992.0") == 9007199254740992);  // 2^53
  CHECK_FALSE(number<index_t>("1e16"));
  CHECK_FALSE(number<int>("1e10"));

  CHECK(number<double>("10000") == 10000);
  CHECK(number<float>("1e-05") == 1e-5f);
  CHECK_FALSE(number<float>("1e39"));
  CHECK(number<double>("1e39") == 1e39);
  CHECK(number<double>("1e-400") == 0);

  // The grammar has it (RFC 8259, section 6, leaves the range open), a double has not.
  const std::string range = ": expected a magnitude of at most 1.7976931348623157e308, got ";
  CHECK(fault("1e999") == "x.json: a number beyond double at byte 0" + range + "1e999");
  CHECK(fault("[7, -1e400 ]") == "x.json: a number beyond double at byte 4" + range + "-1e400");
  CHECK(number<double>("1.7976931348623157e308") == std::numeric_limits<double>::max());
  const std::string long_number = "1" + repeated("0", 400);
  CHECK(fault(long_number) ==
        "x.json: a number beyond double at byte 0" + range + "1" + repeated("0", 63) + "...");

  for (const char* text : {"true", "null", "\"1\"", "[1]", "{}"}) CHECK_FALSE(number<int>(text));
  CHECK_FALSE(number<bool>("1"));
  CHECK_FALSE(number<std::string>("1"));
}

TEST_CASE("json: a key twice in one object is an error, however it is written") {
  CHECK(fault(R"({"a": 1, "b": 2, "a": 1})") == "x.json: duplicate key (a)");
  CHECK(fault(R"({"a": 1, "\u0061": 2})") == "x.json: duplicate key (a)");
  CHECK(fault(R"({"x": [0, {"y": {"k": [], "k": {}}}]})") == "x.json: duplicate key (x[1].y.k)");
  CHECK(is_json(R"({"a": {"a": 1}, "b": {"a": 1}, "A": 1})"));
}

TEST_CASE("json: keys are found among many, in objects of any order") {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) {
    const std::string number = std::to_string(i * 7919 % 5000);  // 7919 is prime: each once
    text += (i == 0 ? "\"" : ", \"") + number + "\": {\"n\": " + number + "}";
  }
  const Json document = parse(text + "}");
  for (int i = 0; i < 5000; ++i) {
    CHECK(document.root().at(std::to_string(i)).get<int>("n") == i);
  }
  CHECK_FALSE(document.root().find("5000"));
  CHECK_FALSE(document.root().find(""));
  const Json array = parse("[1]");
  CHECK_FALSE(array.root().find("0"));
}

TEST_CASE("json: what is missing, null, or something else") {
  const Json document = parse(R"({"head_dim": null, "rope": {"factor": [1, "x"]}, "text": "a"})");
  const JsonValue root = document.root();
  CHECK(root.at("head_dim").is_null());
  CHECK(root.get_or<index_t>("head_dim", 64) == 64);
  CHECK(root.get_or<index_t>("absent", 65) == 65);
  CHECK(root.get_or<std::string>("text", "b") == "a");

  const auto message = [](auto f) { return message_of<FormatError>(f); };
  CHECK(message([&] { root.get<int>("layers"); }) ==
        "x.json: missing key (layers): expected an integer of -2147483648 to 2147483647");
  CHECK(message([&] { root.at("rope").at("type"); }) == "x.json: missing key (rope.type)");
  CHECK(message([&] { root.get<double>("text"); }) ==
        "x.json: wrong value (text): expected a number, got TEXT \"a\"");
  CHECK(message([&] { root.get_or<bool>("text", true); }) ==
        "x.json: wrong value (text): expected BOOL, got TEXT \"a\"");
  CHECK(message([&] { root.get<double>("head_dim"); }) ==
        "x.json: wrong value (head_dim): expected a number, got NULL");
  CHECK(message([&] { root.at("rope").get<std::vector<float>>("factor"); }) ==
        "x.json: wrong value (rope.factor): expected ARRAY of a number, got ARRAY of 2");
  CHECK(message([&] { root.at("rope").at("factor").elements()[1].as<float>(); }) ==
        "x.json: wrong value (rope.factor[1]): expected a number, got TEXT \"x\"");
}

TEST_CASE("json: what a value is, in words") {
  const Json document = parse(R"([null, true, -7, 0.25, "a", [1, 2], {"a": [1]}])");
  std::string all;
  for (const JsonValue value : document.root().elements()) all += value.describe() + "; ";
  CHECK(all == "NULL; BOOL true; INTEGER -7; REAL 0.25; TEXT \"a\"; ARRAY of 2; OBJECT of 1; ");
}

TEST_CASE("json: depth, number of values and size are bounded") {
  const auto nested = [](int depth) { return repeated("[", depth) + repeated("]", depth); };
  CHECK(is_json(nested(64)));
  CHECK(fault(nested(65)) == "x.json: is too large: expected at most 64 levels, got more");
  CHECK(fault(repeated("{\"a\":", 65)) == fault(nested(65)));
  CHECK(fault(repeated("[", 1000000)) == fault(nested(65)));  // before the rest is looked at

  CHECK(fault("[1, 2, 3]", {.values = 4}) == "(nothing was thrown)");
  CHECK(fault("[1, 2, 3]", {.values = 3}) ==
        "x.json: is too large: expected at most 3 values, got more");
  CHECK(fault("{\"a\": 1}", {.values = 2}) ==
        "x.json: is too large: expected at most 2 values, got more");
  CHECK(fault("12345", {.bytes = 4}) ==
        "x.json: is too large: expected at most 4 bytes, got 5 bytes");
  CHECK(fault("1", {.bytes = -1}).starts_with("x.json: is too large"));
  CHECK(fault("1", {.values = -1}).starts_with("x.json: is too large"));
  CHECK(fault("[]", {.depth = -1}).starts_with("x.json: is too large"));
}

TEST_CASE("json: files, and documents that move") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("config.json", R"({"model_type": "llama"})");
  Json document = Json::open(path);
  CHECK(document.name() == path);
  const JsonValue type = document.root().at("model_type");
  const Json moved = std::move(document);
  CHECK(type.as<std::string_view>() == "llama");
  CHECK(moved.root().size() == 1);
  const std::string empty = "Json: this document is empty: it was moved to another";
  // NOLINTBEGIN(bugprone-use-after-move): that it is an error is what is tested
  CHECK(message_of<Error>([&] { document.root(); }) == empty);
  CHECK(message_of<Error>([&] { document.name(); }) == empty);
  // NOLINTEND(bugprone-use-after-move)
  document = parse("[]");
  CHECK(document.root().size() == 0);
  static_assert(has_root<const Json&> && !has_root<Json> && !has_root<const Json>);
  static_assert(has_name<const Json&> && !has_name<Json> && !has_name<const Json>);
  CHECK(message_of<FormatError>([&] { Json::open(scratch / "missing.json"); }) ==
        scratch / "missing.json" + ": cannot be opened: No such file or directory");
  CHECK(message_of<FormatError>([&] { Json::open(path, {.bytes = 3}); }).starts_with(path));
}

TEST_CASE("docs/files.md: JSON documents") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file(
      "config.json",
      R"({"num_hidden_layers": 30, "head_dim": null, "rope_scaling": {"factor": "x"}})");
  const Json document = Json::open(path);
  const JsonValue root = document.root();
  const auto layers = root.get<index_t>("num_hidden_layers");
  const auto head_dim = root.get_or<index_t>("head_dim", 64);  // missing or null: 64
  const auto scale = [&] { return root.at("rope_scaling").get<float>("factor"); };
  CHECK(layers == 30);
  CHECK(head_dim == 64);
  CHECK(message_of<FormatError>(scale) ==
        path + ": wrong value (rope_scaling.factor): expected a number, got TEXT \"x\"");

  const auto strict = [](std::string_view text) {
    const Json message = Json::parse(text, "request", {.bytes = 4096, .values = 100, .depth = 8});
    return message.root().size();
  };
  CHECK(strict(R"({"model": "a", "n": 1})") == 2);
  CHECK(message_of<FormatError>([&] { strict(repeated("[", 9)); }) ==
        "request: is too large: expected at most 8 levels, got more");
  CHECK(message_of<FormatError>([&] { strict(R"({"a": 1, "a": 2})"); }) ==
        "request: duplicate key (a)");
}
