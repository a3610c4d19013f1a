// GGUF files made by hand, byte by byte, mostly wrong ones: the cases of ggml's own test-gguf and
// of reported crashes of other readers. Each must be a FormatError that says what is wrong.
#include "imbrex/formats/gguf_reader.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "imbrex/formats/gguf_file.hpp"
#include "tests/formats/handmade_gguf.hpp"

using namespace imbrex;
using handmade::Bytes;

namespace {

GgufFile parse(const Bytes& file) { return GgufFile::parse(file.data, "x.gguf"); }

/// The message of the FormatError that the file gives; "" when it gives none.
std::string fault(const Bytes& file) {
  try {
    parse(file);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

/// A file with one key, of value type `type`; the value is appended by the caller.
Bytes one_key(std::string_view key, std::uint32_t type) {
  return Bytes().header(0, 1).text(key).u32(type);
}

/// A file with one tensor and 64 bytes of data.
Bytes one_tensor(std::vector<std::uint64_t> dims, std::uint32_t type, std::uint64_t offset = 0) {
  return Bytes().header(1, 0).tensor("t", std::move(dims), type, offset).pad(32).zeros(64);
}

constexpr std::uint64_t huge = ~std::uint64_t{0};

}  // namespace

TEST_CASE("header: magic") {
  CHECK(fault(Bytes().u32(0x46554746).u32(3).u64(0).u64(0)) ==
        "x.gguf: is not a GGUF file at byte 0: expected \"GGUF\"");
  CHECK(fault(Bytes()) ==
        "x.gguf: file ends inside magic at byte 0: expected 4 bytes, got 0 bytes");
}

TEST_CASE("header: versions") {
  CHECK(fault(Bytes().header(0, 0, 0)) ==
        "x.gguf: unsupported GGUF version at byte 4: expected 2 or 3, got 0");
  CHECK(fault(Bytes().header(0, 0, 1)) ==
        "x.gguf: unsupported GGUF version at byte 4: expected 2 or 3, got 1");
  CHECK(fault(Bytes().header(0, 0, 4)) ==
        "x.gguf: unsupported GGUF version at byte 4: expected 2 or 3, got 4");
  CHECK(parse(Bytes().header(0, 0, 2)).version() == 2);
  CHECK(parse(Bytes().header(0, 0, 3)).version() == 3);
}

TEST_CASE("header: a big-endian file is recognised") {
  CHECK(fault(Bytes().header(0, 0, 0x03000000)) ==
        "x.gguf: is a big-endian GGUF file at byte 4: expected a little-endian one");
}

TEST_CASE("header: counts beyond what the file could hold") {
  CHECK(fault(Bytes().header(huge, 0)) ==
        "x.gguf: number of tensors is more than the file holds at byte 8: expected at most 0, got "
        "18446744073709551615");
  CHECK(fault(Bytes().header(0, huge)) ==
        "x.gguf: number of keys is more than the file holds at byte 16: expected at most 0, got "
        "18446744073709551615");
  CHECK(fault(Bytes().header(1, 0)) != "");
  CHECK(fault(Bytes().header(0, 1)) != "");
  // Products of a count and the size of an entry that would wrap around 64 bits.
  CHECK(fault(Bytes().header(huge / 64 + 2, 0).zeros(200)) != "");
  CHECK(fault(Bytes().header(0, huge / 16 + 2).zeros(200)) != "");
}

TEST_CASE("header: a file of nothing but a header is sound") {
  const GgufFile file = parse(Bytes().header(0, 0));
  CHECK(file.metadata().empty());
  CHECK(file.tensors().empty());
  CHECK(file.find("a") == nullptr);
  CHECK(file.find_tensor("a") == nullptr);
  CHECK(file.alignment() == 32);
}

TEST_CASE("a file cut anywhere is an error") {
  Bytes whole;
  whole.header(2, 2).text("general.name").u32(handmade::string).text("abc");
  whole.text("list").u32(handmade::array).u32(handmade::uint16).u64(3).zeros(6);
  whole.tensor("a", {4, 2}, handmade::f32, 0).tensor("b", {3}, handmade::f16, 32).pad(32);
  whole.zeros(32 + 6);
  REQUIRE(fault(whole) == "");
  for (std::size_t size = 0; size < whole.data.size(); ++size) {
    Bytes cut = whole;
    cut.data.resize(size);
    cut.data.shrink_to_fit();
    CAPTURE(size);
    CHECK(fault(cut) != "");
  }
}

TEST_CASE("keys: size") {
  CHECK(fault(Bytes().header(0, 1).u64(huge).zeros(20)) ==
        "x.gguf: length of a key is more than the file holds at byte 24: expected at most 20, got "
        "18446744073709551615");
  CHECK(fault(Bytes().header(0, 1).u64(0xFFFFFFFFFFFF).zeros(20)) != "");
  CHECK(fault(one_key("", handmade::uint8).u8(1).zeros(8)) == "x.gguf: empty key at byte 24");
  CHECK(fault(one_key(std::string(65535, 'k'), handmade::uint8).u8(1)) == "");
  CHECK(fault(one_key(std::string(65536, 'k'), handmade::uint8).u8(1)).find("key too long") !=
        std::string::npos);
}

TEST_CASE("keys: type") {
  CHECK(fault(one_key("k", 13).u64(0)) ==
        "x.gguf: unknown type of value (k) at byte 33: expected 0 to 12, got 13");
  CHECK(fault(one_key("k", 0xFFFFFFFF).u64(0)) != "");  // negative, where types are signed
  CHECK(fault(one_key("k", handmade::array).u32(13).u64(0)) ==
        "x.gguf: unknown type of value (k) at byte 37: expected 0 to 12, got 13");
}

TEST_CASE("keys: duplicates") {
  Bytes file;
  file.header(0, 3);
  for (const char* key : {"a", "b", "a"}) file.text(key).u32(handmade::uint8).u8(1);
  CHECK(fault(file).find("duplicate key (a)") != std::string::npos);
}

TEST_CASE("values: strings and arrays longer than the file") {
  CHECK(fault(one_key("k", handmade::string).u64(0xFFFFFFFFFFFF)) != "");
  CHECK(fault(one_key("k", handmade::array).u32(handmade::uint8).u64(huge)) != "");
  CHECK(fault(one_key("k", handmade::array).u32(handmade::uint64).u64(huge / 8 + 2).zeros(16)) !=
        "");
  CHECK(fault(one_key("k", handmade::array).u32(handmade::string).u64(3).text("a").text("b"))
            .find("length of an array") != std::string::npos);
  CHECK(fault(one_key("k", handmade::array).u32(handmade::string).u64(2).text("a").u64(50).zeros(8))
            .find("length of a string") != std::string::npos);
}

TEST_CASE("values: a bool is 0 or 1") {
  CHECK(parse(one_key("k", handmade::boolean).u8(1)).get<bool>("k"));
  CHECK(fault(one_key("k", handmade::boolean).u8(2)).find("invalid BOOL (k)") != std::string::npos);
  CHECK(fault(one_key("k", handmade::array).u32(handmade::boolean).u64(2).u8(1).u8(255)) != "");
}

TEST_CASE("values: arrays of arrays, but not without end") {
  Bytes nested = one_key("k", handmade::array);
  nested.u32(handmade::array).u64(2);
  nested.u32(handmade::uint8).u64(2).u8(7).u8(8);
  nested.u32(handmade::string).u64(1).text("abc");
  const GgufFile file = parse(nested);
  const std::vector<GgufValue> outer = file.find("k")->elements();
  REQUIRE(outer.size() == 2);
  CHECK(outer[0].to<std::vector<int>>() == std::vector<int>{7, 8});
  CHECK(outer[1].to<std::vector<std::string>>() == std::vector<std::string>{"abc"});

  Bytes deep = one_key("k", handmade::array);
  for (int i = 0; i < 100000; ++i) deep.u32(handmade::array).u64(1);
  deep.u32(handmade::uint8).u64(0);
  CHECK(fault(deep).find("arrays nested too deeply (k)") != std::string::npos);
}

TEST_CASE("alignment") {
  const auto with = [](std::uint32_t alignment) {
    return one_key("general.alignment", handmade::uint32).u32(alignment);
  };
  // A power of two, as ggml wants it, or a multiple of 8, as the specification does.
  for (const std::uint32_t good : {1u, 2u, 4u, 8u, 24u, 32u, 4096u, 0x80000000u}) {
    CHECK(parse(with(good)).alignment() == good);
  }
  CHECK(fault(with(0)).find(
            "bad alignment (general.alignment) at byte 57: expected UINT32, a power of two or a "
            "multiple of 8, got UINT32 0") != std::string::npos);
  for (const std::uint32_t bad : {3u, 13u, 12u, 33u, 0xFFFFFFFFu}) CHECK(fault(with(bad)) != "");
  for (const std::uint32_t type : {handmade::int32, handmade::float32}) {
    CHECK(fault(one_key("general.alignment", type).u32(32)).find("bad alignment") !=
          std::string::npos);
  }
  CHECK(fault(one_key("general.alignment", handmade::uint64).u64(32)) != "");
  CHECK(fault(one_key("general.alignment", handmade::string).text("32")) != "");
}

TEST_CASE("tensors: name") {
  CHECK(fault(Bytes().header(1, 0).u64(huge).zeros(64)) != "");
  CHECK(fault(Bytes().header(1, 0).tensor("", {1}, 0, 0).pad(32).zeros(32)) ==
        "x.gguf: tensor without a name at byte 24");
  const auto named = [](std::size_t size) {
    return Bytes().header(1, 0).tensor(std::string(size, 'n'), {1}, 0, 0).pad(32).zeros(32);
  };
  CHECK(fault(named(64)) == "");
  CHECK(fault(named(65)).find("tensor name too long") != std::string::npos);
}

TEST_CASE("tensors: duplicate names") {
  Bytes file;
  file.header(2, 0).tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).pad(32).zeros(64);
  CHECK(fault(file).find("duplicate tensor (t)") != std::string::npos);
}

TEST_CASE("tensors: number of axes") {
  CHECK(fault(one_tensor({1, 1, 1, 1}, 0)) == "");
  CHECK(fault(one_tensor({1, 1, 1, 1, 1}, 0)).find("too many axes (t)") != std::string::npos);
  CHECK(fault(Bytes().header(1, 0).text("t").u32(0xFFFFFFFF).zeros(64)) != "");
  const GgufFile scalar = parse(one_tensor({}, 0));
  CHECK(scalar.tensors()[0].elements() == 1);
  CHECK(scalar.tensors()[0].bytes == 4);
}

TEST_CASE("tensors: shapes that cannot be") {
  CHECK(fault(one_tensor({huge}, 0)).find("size of an axis is too large (t)") != std::string::npos);
  CHECK(fault(one_tensor({std::uint64_t{1} << 63}, 0)) != "");
  // Products that wrap around 64 bits to something small: 2^42 * 2^22, 2 * (2^64 - 1).
  CHECK(fault(one_tensor({std::uint64_t{1} << 42, std::uint64_t{1} << 22}, 0)) != "");
  CHECK(fault(one_tensor({huge, 2}, 0)) != "");
  CHECK(fault(one_tensor({std::uint64_t{1} << 32, std::uint64_t{1} << 31}, 0)) ==
        "x.gguf: tensor too large (t) at byte 57: expected a size of 63 bits, got [4294967296, "
        "2147483648]");
  CHECK(fault(one_tensor({std::uint64_t{1} << 62}, 0)) != "");  // numbers fit, their bytes do not
  CHECK(fault(one_tensor({31}, handmade::q8_0)) ==
        "x.gguf: rows are not whole blocks of Q8_0 (t) at byte 49: expected a multiple of 32, got "
        "31");
  CHECK(fault(one_tensor({8, 4}, handmade::q8_0)) != "");  // 32 numbers, but rows of 8
}

TEST_CASE("tensors: sizes of zero hold nothing") {
  for (const std::vector<std::uint64_t>& dims :
       {std::vector<std::uint64_t>{0}, {1, 0}, {4, 0}, {0, 4, 4}, {4, 0, 0, 4}}) {
    const GgufFile file = parse(one_tensor(dims, 0));
    CHECK(file.tensors()[0].elements() == 0);
    CHECK(file.tensors()[0].bytes == 0);
    CHECK(file.tensors()[0].data == nullptr);
  }
  // Where the data would start may be beyond the end, if there is none.
  CHECK(fault(Bytes().header(1, 0).tensor("t", {0}, 0, 0)) == "");
}

TEST_CASE("tensors: type") {
  CHECK(fault(one_tensor({1}, 42)) == "x.gguf: unknown type of tensor (t) at byte 49: got 42");
  for (const std::uint32_t bad : {4u, 5u, 31u, 33u, 36u, 38u, 1000u, 0x80000000u, 0xFFFFFFFFu}) {
    CHECK(fault(one_tensor({1}, bad)) != "");
  }
}

TEST_CASE("tensors: offsets") {
  CHECK(fault(one_tensor({1}, 0, 1)) ==
        "x.gguf: bad tensor offset (t) at byte 64: expected 0, got 1");
  CHECK(fault(one_tensor({1}, 0, 32)) != "");  // aligned and inside, but nothing lies before it
  CHECK(fault(one_tensor({1}, 0, huge)) != "");
  CHECK(fault(one_tensor({1}, 0, huge / 2)) != "");
  const auto two = [](std::uint64_t a, std::uint64_t b) {
    return Bytes().header(2, 0).tensor("a", {10}, 0, a).tensor("b", {2}, 0, b).pad(32).zeros(128);
  };
  CHECK(fault(two(0, 64)) == "");
  CHECK(fault(two(32, 0)) == "");  // listed in another order than they lie in
  CHECK(fault(two(0, 0)) != "");   // one over the other
  CHECK(fault(two(0, 32)) != "");  // overlapping
  CHECK(fault(two(0, 40)) != "");  // not aligned
  CHECK(fault(two(0, 96)) != "");  // a hole
}

TEST_CASE("tensors: alignment and offsets that do not agree") {
  const auto with = [](std::uint32_t alignment, std::uint64_t second) {
    Bytes file;
    file.header(2, 1).text("general.alignment").u32(handmade::uint32).u32(alignment);
    return file.tensor("a", {3}, 0, 0).tensor("b", {1}, 0, second).pad(alignment).zeros(256);
  };
  CHECK(fault(with(16, 16)) == "");
  CHECK(fault(with(1, 12)) == "");
  CHECK(fault(with(24, 24)) == "");
  CHECK(fault(with(16, 32)) != "");  // offsets for the default alignment
  CHECK(fault(with(1, 32)) != "");
  CHECK(fault(with(64, 32)) != "");
  CHECK(parse(with(1, 12)).tensors()[1].offset == parse(with(1, 12)).tensors()[0].offset + 12);
}

TEST_CASE("tensors: not enough data") {
  const auto with = [](std::size_t bytes) {
    return Bytes().header(1, 0).tensor("t", {5}, 0, 0).pad(32).zeros(bytes);
  };
  CHECK(fault(with(19)) ==
        "x.gguf: tensor data runs past the end of the file (t) at byte 64: expected 20 bytes, got "
        "19 bytes");
  CHECK(fault(with(20)) == "");  // the last tensor need not be padded
  CHECK(fault(with(500)) == "");
  // The data would start beyond the end of the file.
  CHECK(fault(Bytes().header(1, 0).tensor("t", {5}, 0, 0)).find("got 0 bytes") !=
        std::string::npos);
}

TEST_CASE("names from a file are printed without what could upset a terminal") {
  Bytes file;
  file.header(0, 1).text("a\x1b[2J\n").u32(99).u64(0);
  const std::string message = fault(file);
  CHECK(message.find("(a?[2J?)") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
}
