// Look-ups in GGUF files. Right values: what tests/golden/formats/make.py put into its file with
// Python's gguf package.
#include "imbrex/formats/gguf_file.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/formats/handmade_gguf.hpp"

using namespace imbrex;

namespace {

const char* golden = IMBREX_GOLDEN_DIR "/formats/python.gguf";

template <class T>
T number_at(const GgufTensor& tensor, index_t i) {
  T value;
  std::memcpy(&value, tensor.data + i * static_cast<index_t>(sizeof(T)), sizeof(T));
  return value;
}

/// A file with one key "k", of an integer type.
template <class T>
GgufFile with_integer(std::uint32_t type, T value, std::vector<std::byte>& keep) {
  keep = handmade::Bytes().header(0, 1).text("k").u32(type).number(value).data;
  return GgufFile::parse(keep, "x.gguf");
}

template <class T>
bool is_refused(const GgufFile& file) {
  return !file.find("k")->to<T>().has_value();
}

}  // namespace

TEST_CASE("a file written by Python: metadata of every type") {
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const GgufFile file = GgufFile::open(golden, access);
    CHECK(file.version() == 3);
    CHECK(file.alignment() == 64);
    CHECK(file.get<std::string_view>("general.architecture") == "llama");
    CHECK(file.get<std::uint8_t>("t.uint8") == 200);
    CHECK(file.get<std::int8_t>("t.int8") == -100);
    CHECK(file.get<std::uint16_t>("t.uint16") == 60000);
    CHECK(file.get<std::int16_t>("t.int16") == -30000);
    CHECK(file.get<std::uint32_t>("t.uint32") == 4000000000u);
    CHECK(file.get<std::int32_t>("t.int32") == -2000000000);
    CHECK(file.get<float>("t.float32") == 0.15625f);
    CHECK(file.get<bool>("t.bool"));
    CHECK(file.get<std::string>("t.string") == "Grüße, 世界");
    CHECK(file.get<std::uint64_t>("t.uint64") == ~std::uint64_t{0});
    CHECK(file.get<std::int64_t>("t.int64") == (std::numeric_limits<std::int64_t>::min)());
    CHECK(file.get<double>("t.float64") == 0.1);
    CHECK(file.get<std::vector<std::string_view>>("t.strings") ==
          std::vector<std::string_view>{"a", "", "Ġthe"});
    CHECK(file.get<std::vector<index_t>>("t.numbers") == std::vector<index_t>{1, -2, 3});
    CHECK(file.get<std::vector<float>>("t.floats") == std::vector<float>{0.5f, -0.25f});
    CHECK(file.get<std::vector<bool>>("t.bools") == std::vector<bool>{true, false, true});
    CHECK(file.metadata().size() == 18);
  }
}

TEST_CASE("a file written by Python: tensors") {
  const GgufFile file = GgufFile::open(golden);
  REQUIRE(file.tensors().size() == 3);
  const GgufTensor& matrix = file.tensor("matrix");
  CHECK(matrix.rank == 2);
  CHECK(matrix.shape() == "[3, 2]");  // the contiguous axis first
  CHECK(matrix.dtype() == Dtype::f32);
  CHECK(matrix.offset % 64 == 0);
  for (index_t i = 0; i < 6; ++i) CHECK(number_at<float>(matrix, i) == static_cast<float>(i));

  const GgufTensor& halves = file.tensor("halves");
  CHECK(halves.dtype() == Dtype::f16);
  CHECK(halves.bytes == 10);
  CHECK(number_at<std::uint16_t>(halves, 4) == 0x3C00);  // 1.0

  const GgufTensor& blocks = file.tensor("blocks");
  CHECK(blocks.dtype() == Dtype::q8_0);
  CHECK(blocks.dims[0] == 32);
  CHECK(blocks.bytes == 68);
  CHECK(number_at<std::int8_t>(blocks, 2) == -127);  // -1, the largest of the first row
  CHECK(number_at<std::int8_t>(blocks, 67) == 127);  // 1, the last number
}

TEST_CASE("a big-endian file written by Python is recognised") {
  CHECK_THROWS_WITH_AS(GgufFile::open(IMBREX_GOLDEN_DIR "/formats/big_endian.gguf"),
                       doctest::Contains("is a big-endian GGUF file"), FormatError);
}

TEST_CASE("what is missing or of another type is an error with key, expected and got") {
  const GgufFile file = GgufFile::open(golden);
  const std::string at = golden;
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message([&] { file.get<index_t>("llama.block_count"); }) ==
        at + ": missing key (llama.block_count): expected a value of INT64");
  CHECK(message([&] { file.get<std::uint32_t>("t.string"); }) ==
        at + ": wrong value (t.string): expected a value of UINT32, got STRING \"Grüße, 世界\"");
  CHECK(message([&] { file.get<std::uint32_t>("t.int32"); }) ==
        at + ": wrong value (t.int32): expected a value of UINT32, got INT32 -2000000000");
  CHECK(message([&] { file.get<float>("t.uint32"); }) ==
        at + ": wrong value (t.uint32): expected FLOAT32, got UINT32 4000000000");
  CHECK(message([&] { file.get<bool>("t.uint8"); }) ==
        at + ": wrong value (t.uint8): expected BOOL, got UINT8 200");
  CHECK(message([&] { file.get<std::string>("t.strings"); }) ==
        at + ": wrong value (t.strings): expected STRING, got ARRAY of 3 STRING");
  CHECK(message([&] { file.get<std::vector<std::string>>("t.numbers"); }) ==
        at + ": wrong value (t.numbers): expected ARRAY of STRING, got ARRAY of 3 INT32");
  CHECK(message([&] { file.get<std::vector<float>>("t.float32"); }) ==
        at + ": wrong value (t.float32): expected ARRAY of FLOAT32, got FLOAT32 0.15625");
  CHECK(message([&] { file.get<std::vector<std::uint8_t>>("t.numbers"); }) != "");  // -2
  CHECK(message([&] { file.tensor("absent"); }) == at + ": missing tensor (absent)");

  CHECK(file.get_or<index_t>("absent", 7) == 7);
  CHECK(file.get_or<index_t>("t.uint8", 7) == 200);
  CHECK(message([&] { file.get_or<index_t>("t.string", 7); }) != "");
}

TEST_CASE("integers convert when the value fits, and only then") {
  std::vector<std::byte> keep;
  {
    const GgufFile file = with_integer(handmade::uint64, std::uint64_t{255}, keep);
    CHECK(file.get<std::uint8_t>("k") == 255);
    CHECK(file.get<index_t>("k") == 255);
    CHECK(is_refused<std::int8_t>(file));
    CHECK(is_refused<float>(file));
    CHECK(is_refused<bool>(file));
  }
  {
    const GgufFile file = with_integer(handmade::int64, std::int64_t{-129}, keep);
    CHECK(file.get<std::int16_t>("k") == -129);
    CHECK(is_refused<std::int8_t>(file));
    CHECK(is_refused<std::uint64_t>(file));
  }
  {
    const GgufFile file = with_integer(handmade::uint64, std::uint64_t{1} << 63, keep);
    CHECK(is_refused<index_t>(file));
    CHECK(file.get<std::uint64_t>("k") == std::uint64_t{1} << 63);
  }
  {
    const GgufFile file = with_integer(handmade::float64, 1e300, keep);
    CHECK(is_refused<float>(file));
    CHECK(is_refused<index_t>(file));
    CHECK(file.get<double>("k") == 1e300);
  }
  {
    const GgufFile file = with_integer(handmade::float64, 0.25, keep);
    CHECK(file.get<float>("k") == 0.25f);
  }
}

TEST_CASE("an empty array is a vector of anything") {
  std::vector<std::byte> keep = handmade::Bytes()
                                    .header(0, 1)
                                    .text("k")
                                    .u32(handmade::array)
                                    .u32(handmade::int32)
                                    .u64(0)
                                    .data;
  const GgufFile file = GgufFile::parse(keep, "x.gguf");
  CHECK(file.get<std::vector<int>>("k").empty());
  CHECK(file.get<std::vector<std::string>>("k").empty());
  CHECK_THROWS_AS(file.get<int>("k"), FormatError);
}

// Memory for 2^60 elements cannot be had: to ask for it throws. Refusal comes first.
TEST_CASE("elements of a wrong type are refused before there is memory for them") {
  using enum GgufValueType;
  const index_t many = index_t{1} << 60;
  const std::vector<std::byte> payload(64);
  CHECK(!GgufValue::array(uint8, many, payload).to<std::vector<std::string_view>>());
  CHECK(!GgufValue::array(uint8, many, payload).to<std::vector<std::string>>());
  CHECK(!GgufValue::array(uint8, many, payload).to<std::vector<float>>());
  CHECK(!GgufValue::array(uint8, many, payload).to<std::vector<bool>>());
  CHECK(!GgufValue::array(string, many, payload).to<std::vector<std::int32_t>>());
  CHECK(!GgufValue::array(boolean, many, payload).to<std::vector<std::int32_t>>());
  CHECK(!GgufValue::array(float32, many, payload).to<std::vector<std::int64_t>>());
  CHECK(!GgufValue::array(array, many, payload).to<std::vector<std::string_view>>());
}

TEST_CASE("bytes stay where they are when the file object is copied, moved or gone") {
  Owner owner;
  const GgufTensor* moved_tensor = nullptr;
  GgufTensor tensor;
  {
    GgufFile file = GgufFile::open(golden);
    const GgufFile copy = file;
    const std::byte* data = file.tensor("matrix").data;
    const GgufFile moved = std::move(file);
    moved_tensor = moved.find_tensor("matrix");
    REQUIRE(moved_tensor != nullptr);
    CHECK(moved_tensor->data == data);
    CHECK(copy.tensor("matrix").data == data);
    tensor = *moved_tensor;
    owner = moved.owner();
  }
  CHECK(number_at<float>(tensor, 5) == 5.0f);
  CHECK(static_cast<bool>(owner));
}

TEST_CASE("values say what they are") {
  const GgufFile file = GgufFile::open(golden);
  CHECK(file.find("t.uint64")->describe() == "UINT64 18446744073709551615");
  CHECK(file.find("t.int64")->describe() == "INT64 -9223372036854775808");
  CHECK(file.find("t.bool")->describe() == "BOOL true");
  CHECK(file.find("t.float32")->describe() == "FLOAT32 0.15625");
  CHECK(file.find("t.float64")->describe() == "FLOAT64 0.1");
  CHECK(file.find("t.strings")->describe() == "ARRAY of 3 STRING");
  CHECK(file.find("t.string")->describe() == "STRING \"Grüße, 世界\"");
}
