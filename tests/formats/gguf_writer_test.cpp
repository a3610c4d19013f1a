// Written files read back: by GgufFile here, whose own tests have files by hand and by Python.
#include "imbrex/formats/gguf_writer.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "imbrex/formats/gguf_file.hpp"
#include "tests/formats/handmade_gguf.hpp"
#include "tests/formats/scratch_directory.hpp"

using namespace imbrex;

namespace {

std::vector<std::byte> pattern(std::size_t size, unsigned start) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(start + 7 * i);
  return bytes;
}

bool holds(const GgufTensor& tensor, const std::vector<std::byte>& bytes) {
  return tensor.bytes == static_cast<index_t>(bytes.size()) &&
         std::memcmp(tensor.data, bytes.data(), bytes.size()) == 0;
}

constexpr index_t matrix_dims[] = {3, 2};
constexpr index_t block_dims[] = {32, 3};

}  // namespace

TEST_CASE("a small file, byte for byte") {
  GgufWriter writer;
  writer.add("n", std::uint16_t{7});
  writer.add("s", "ab");
  const std::vector<std::byte> data = pattern(8, 1);
  const index_t dims[] = {2};
  writer.add_tensor("t", GgufType::f32, dims, data);
  handmade::Bytes right;
  right.header(1, 2).text("n").u32(handmade::uint16).number(std::uint16_t{7});
  right.text("s").u32(handmade::string).text("ab");
  right.tensor("t", {2}, handmade::f32, 0).pad(32);
  right.data.insert(right.data.end(), data.begin(), data.end());
  right.pad(32);
  CHECK(writer.to_bytes() == right.data);
}

TEST_CASE("everything that is written is read back the same") {
  for (const index_t alignment : {index_t{8}, index_t{32}, index_t{256}}) {
    GgufWriter writer(alignment);
    writer.add("u8", std::uint8_t{255});
    writer.add("i8", std::int8_t{-128});
    writer.add("u16", std::uint16_t{65535});
    writer.add("i16", std::int16_t{-32768});
    writer.add("u32", 4294967295u);
    writer.add("i32", -5);
    writer.add("u64", ~std::uint64_t{0});
    writer.add("i64", std::int64_t{-1} << 62);
    writer.add("f32", 0.1f);
    writer.add("f64", 0.1);
    writer.add("bool", true);
    writer.add("text", std::string("a\0b", 3));
    writer.add("texts", std::vector<std::string_view>{"", "x", "yz"});
    writer.add("numbers", std::vector<std::int16_t>{-1, 2});
    writer.add("bools", std::vector<bool>{false, true});
    writer.add("none", std::vector<float>{});
    const auto matrix = pattern(24, 3), blocks = pattern(3 * 34, 5), scalar = pattern(2, 9);
    writer.add_tensor("matrix", GgufType::f32, matrix_dims, matrix);
    writer.add_tensor("blocks", GgufType::q8_0, block_dims, blocks);
    writer.add_tensor("empty", GgufType::f32, std::vector<index_t>{0, 4}, {});
    writer.add_tensor("scalar", GgufType::f16, {}, scalar);

    const std::vector<std::byte> bytes = writer.to_bytes();
    const GgufFile file = GgufFile::parse(bytes, "written");
    CHECK(file.alignment() == alignment);
    CHECK(file.metadata().size() == (alignment == 32 ? 16 : 17));
    CHECK(file.find("u8")->describe() == "UINT8 255");
    CHECK(file.find("i8")->describe() == "INT8 -128");
    CHECK(file.find("u16")->describe() == "UINT16 65535");
    CHECK(file.find("i16")->describe() == "INT16 -32768");
    CHECK(file.find("u32")->describe() == "UINT32 4294967295");
    CHECK(file.find("i32")->describe() == "INT32 -5");
    CHECK(file.find("u64")->describe() == "UINT64 18446744073709551615");
    CHECK(file.find("i64")->describe() == "INT64 -4611686018427387904");
    CHECK(file.find("f32")->describe() == "FLOAT32 0.100000001");
    CHECK(file.find("f64")->describe() == "FLOAT64 0.1");
    CHECK(file.get<bool>("bool"));
    CHECK(file.get<std::string>("text") == std::string("a\0b", 3));
    CHECK(file.get<std::vector<std::string>>("texts") == std::vector<std::string>{"", "x", "yz"});
    CHECK(file.find("numbers")->describe() == "ARRAY of 2 INT16");
    CHECK(file.get<std::vector<int>>("numbers") == std::vector<int>{-1, 2});
    CHECK(file.get<std::vector<bool>>("bools") == std::vector<bool>{false, true});
    CHECK(file.find("none")->describe() == "ARRAY of 0 FLOAT32");

    REQUIRE(file.tensors().size() == 4);
    CHECK(file.tensors()[0].name == "matrix");
    CHECK(file.tensor("matrix").shape() == "[3, 2]");
    CHECK(holds(file.tensor("matrix"), matrix));
    CHECK(file.tensor("blocks").type == GgufType::q8_0);
    CHECK(holds(file.tensor("blocks"), blocks));
    CHECK(file.tensor("empty").elements() == 0);
    CHECK(file.tensor("scalar").rank == 0);
    CHECK(holds(file.tensor("scalar"), scalar));
    for (const GgufTensor& tensor : file.tensors()) CHECK(tensor.offset % alignment == 0);
  }
}

TEST_CASE("a file written by Python, copied key by key, says the same") {
  const GgufFile original = GgufFile::open(IMBREX_GOLDEN_DIR "/formats/python.gguf");
  GgufWriter writer(original.alignment());
  for (const GgufEntry& entry : original.metadata()) {
    if (entry.key != "general.alignment") writer.add(entry.key, entry.value);
  }
  for (const GgufTensor& t : original.tensors()) {
    const std::span<const index_t> dims(t.dims.data(), static_cast<std::size_t>(t.rank));
    writer.add_tensor(t.name, t.type, dims, {t.data, static_cast<std::size_t>(t.bytes)});
  }
  const std::vector<std::byte> bytes = writer.to_bytes();
  const GgufFile copy = GgufFile::parse(bytes, "copy");
  REQUIRE(copy.metadata().size() == original.metadata().size());
  for (const GgufEntry& entry : original.metadata()) {
    const GgufValue* value = copy.find(entry.key);
    REQUIRE(value != nullptr);
    CHECK(value->describe() == entry.value.describe());
    CHECK(std::vector(value->payload().begin(), value->payload().end()) ==
          std::vector(entry.value.payload().begin(), entry.value.payload().end()));
  }
  for (const GgufTensor& t : original.tensors()) {
    CHECK(copy.tensor(t.name).shape() == t.shape());
    CHECK(std::memcmp(copy.tensor(t.name).data, t.data, static_cast<std::size_t>(t.bytes)) == 0);
  }
}

TEST_CASE("a path gets the same bytes, and nothing else is left in the directory") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("model.gguf", "what was there before");
  GgufWriter writer(64);
  const auto matrix = pattern(24, 3), blocks = pattern(3 * 34, 5);
  writer.add_tensor("matrix", GgufType::f32, matrix_dims, matrix);
  writer.add_tensor("blocks", GgufType::q8_0, block_dims, blocks);
  writer.write(path);
  const MappedFile written(path);
  const std::vector<std::byte> bytes = writer.to_bytes();
  CHECK(std::vector(written.bytes().begin(), written.bytes().end()) == bytes);
  CHECK(scratch.count() == 1);
}

TEST_CASE("a write that fails leaves what was there, and nothing half written") {
  const ScratchDirectory scratch;
  GgufWriter writer;
  CHECK_THROWS_WITH_AS(writer.write(scratch / "absent/model.gguf"),
                       doctest::Contains("absent/model.gguf: cannot be created: No such file"),
                       FormatError);
  CHECK_THROWS_WITH_AS(writer.write(scratch.path()), doctest::Contains("cannot be replaced"),
                       FormatError);
  CHECK(scratch.count() == 0);
  const std::string path = scratch.file("model.gguf", "before");
  {
    FileReplacement replacement(path);
    replacement.write(pattern(100, 1));
    CHECK(scratch.count() == 2);
  }  // without commit()
  CHECK(scratch.count() == 1);
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "before");
}

TEST_CASE("what is no regular file is not replaced") {
  const ScratchDirectory scratch;
  const GgufWriter writer;
  const std::string pipe = scratch / "pipe", link = scratch / "link", lost = scratch / "lost";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink("pipe", link);
  std::filesystem::create_symlink("absent", lost);
  for (const std::string& path : {pipe, link}) {
    CHECK_THROWS_WITH_AS(writer.write(path),
                         (path + ": cannot be replaced: is not a regular file").c_str(),
                         FormatError);
  }
  CHECK_THROWS_WITH_AS(writer.write(lost), doctest::Contains("is a link that leads nowhere"),
                       FormatError);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::is_symlink(lost));
  CHECK(scratch.count() == 3);
}

TEST_CASE("a link stays a link, and a file keeps its mode") {
  const ScratchDirectory scratch;
  const GgufWriter writer;
  const std::string path = scratch.file("model.gguf", "before"), link = scratch / "link";
  using std::filesystem::perms;
  const perms mode = perms::owner_read | perms::owner_write | perms::group_read;  // not umask's
  std::filesystem::permissions(path, mode);
  std::filesystem::create_symlink("model.gguf", link);
  writer.write(link);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(std::filesystem::status(path).permissions() == mode);
  CHECK(MappedFile(path).bytes().size() == writer.to_bytes().size());
  CHECK(scratch.count() == 2);
}

// Tensors' names lie in the writer: in a copy they would be those of the original.
static_assert(!std::is_copy_constructible_v<GgufWriter>);
static_assert(!std::is_copy_assignable_v<GgufWriter>);

TEST_CASE("a writer that was moved writes the same") {
  const std::vector<std::byte> data = pattern(8, 1);
  const index_t dims[] = {2};
  std::optional<GgufWriter> first(std::in_place);
  first->add("key", 7);
  first->add_tensor("a", GgufType::f32, dims, data);
  const std::vector<std::byte> bytes = first->to_bytes();
  GgufWriter second(std::move(*first));
  first.reset();
  CHECK(second.to_bytes() == bytes);
  GgufWriter third;
  third.add_tensor("b", GgufType::f32, dims, data);
  third = std::move(second);
  CHECK(third.to_bytes() == bytes);
  CHECK_THROWS_AS(third.add_tensor("a", GgufType::f32, dims, data), ConfigError);
}

TEST_CASE("what a file cannot say is an error, and leaves the writer as it was") {
  GgufWriter writer;
  writer.add("key", 1);
  const auto data = pattern(24, 0);
  writer.add_tensor("t", GgufType::f32, matrix_dims, data);
  const std::vector<std::byte> before = writer.to_bytes();

  CHECK_THROWS_WITH_AS(writer.add("key", 2), "key = \"key\": expected one that is not there yet",
                       ConfigError);
  CHECK_THROWS_AS(writer.add("", 2), ConfigError);
  CHECK_THROWS_AS(writer.add(std::string(65536, 'k'), 2), ConfigError);
  CHECK_THROWS_AS(writer.add("general.alignment", 64u), ConfigError);

  const auto tensor = [&](std::string_view name, const std::vector<index_t>& dims,
                          std::size_t bytes) {
    writer.add_tensor(name, GgufType::q8_0, dims, pattern(bytes, 0));
  };
  CHECK_THROWS_WITH_AS(tensor("t", {32}, 34), "tensor = \"t\": expected a name that is not taken",
                       ConfigError);
  CHECK_THROWS_AS(tensor("", {32}, 34), ConfigError);
  CHECK_THROWS_AS(tensor(std::string(64, 'n'), {32}, 34), ConfigError);  // ggml has no room for 64
  CHECK_THROWS_WITH_AS(tensor("u\x1b[2J", {32, 2}, 34),
                       "u?[2J[32, 2] of Q8_0 takes 68 bytes, and was given 34", ShapeError);
  CHECK_THROWS_WITH_AS(tensor("u", {32, 2}, 34),
                       "u[32, 2] of Q8_0 takes 68 bytes, and was given 34", ShapeError);
  CHECK_THROWS_WITH_AS(tensor("u", {33}, 34),
                       "u[33] of Q8_0 takes a size that no tensor has, and was given 34",
                       ShapeError);
  CHECK_THROWS_AS(tensor("u", {-32}, 34), ShapeError);
  CHECK_THROWS_AS(tensor("u", {32, 1, 1, 1, 1}, 34), ShapeError);
  CHECK_THROWS_AS(writer.add_tensor("u", static_cast<GgufType>(99), matrix_dims, data), ShapeError);
  CHECK(writer.to_bytes() == before);
  const std::vector<std::byte> block = pattern(34, 0);  // stays until it is written
  const index_t block_size[] = {32};
  writer.add_tensor(std::string(63, 'n'), GgufType::q8_0, block_size, block);
  const std::vector<std::byte> longest = writer.to_bytes();
  CHECK(GgufFile::parse(longest, "longest").find_tensor(std::string(63, 'n')) != nullptr);

  for (const index_t alignment :
       {index_t{0}, index_t{-8}, index_t{4}, index_t{24}, index_t{1} << 32}) {
    CHECK_THROWS_AS(GgufWriter{alignment}, ConfigError);
  }
}
