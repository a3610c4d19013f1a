// Files beyond 4 GiB: whatever was counted in 32 bits on the way would wrap here. They are holes
// but for the first and the last bytes, and take no room on the disk.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "imbrex/formats.hpp"
#include "imbrex/kernels/embedding.hpp"
#include "tests/formats/handmade_gguf.hpp"
#include "tests/formats/scratch_directory.hpp"
#include "tests/message_of.hpp"

using namespace imbrex;

namespace {

constexpr index_t rows = 70'000, cols = 16'384;  // 4,587,520,000 bytes of floats
constexpr index_t table_bytes = rows * cols * 4;
static_assert(table_bytes > index_t{1} << 32);

/// A file with a table of that size and behind it a tensor of two floats, whose last row and
/// elements are not zero. Empty, and a message, where the file system has no such files.
std::string large_gguf(const ScratchDirectory& scratch, index_t& data_start) {
  handmade::Bytes head;
  head.header(2, 0)
      .tensor("table", {cols, rows}, handmade::f32, 0)
      .tensor("behind", {2}, handmade::f32, static_cast<std::uint64_t>(table_bytes))
      .pad(32);
  data_start = static_cast<index_t>(head.data.size());
  const std::string path = scratch.file("large.gguf", "");
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const float last[] = {7, 8, 9};  // the table's last element, and what is behind it
  const bool written =
      ::pwrite(file, head.data.data(), head.data.size(), 0) == static_cast<ssize_t>(data_start) &&
      ::pwrite(file, last, sizeof last, data_start + table_bytes - 4) == sizeof last;
  ::close(file);
  if (written) return path;
  MESSAGE("skipped: the file system does not take a file beyond 4 GiB");
  return "";
}

}  // namespace

TEST_CASE("large files: a tensor behind 4 GiB, and a row beyond them, are where they should be") {
  const ScratchDirectory scratch;
  index_t start = 0;
  const std::string path = large_gguf(scratch, start);
  if (path.empty()) return;
  if (sizeof(void*) < 8) {
    const std::string size = std::to_string(start + table_bytes + 8);
    CHECK(message_of<CapacityError>([&] { GgufFile::open(path); }) ==
          path + ": its " + size + " bytes do not fit the address space");
    return;
  }
  const GgufFile file = GgufFile::open(path);
  const GgufTensor& table = file.tensor("table");
  const GgufTensor& behind = file.tensor("behind");
  CHECK(table.bytes == table_bytes);
  CHECK(table.elements() == rows * cols);
  CHECK(behind.offset == start + table_bytes);
  CHECK(behind.data - table.data == table_bytes);

  float read[2];
  std::memcpy(read, behind.data, sizeof read);
  CHECK(read[0] == 8);
  CHECK(read[1] == 9);

  // As a matrix: the first and the last row.
  const kernels::Matrix matrix{table.data, Dtype::f32, rows, cols, cols * 4};
  std::vector<float> y(static_cast<std::size_t>(2 * cols), -1.0f);
  const std::int32_t ids[] = {static_cast<std::int32_t>(rows - 1), 0};
  kernels::embed({y.data(), 2, cols, cols}, ids, matrix);
  CHECK(y[static_cast<std::size_t>(cols - 2)] == 0);
  CHECK(y[static_cast<std::size_t>(cols - 1)] == 7);
  CHECK(y[static_cast<std::size_t>(2 * cols - 1)] == 0);
}

TEST_CASE("large files: one that ends inside a tensor is refused, however large") {
  const ScratchDirectory scratch;
  index_t start = 0;
  const std::string path = large_gguf(scratch, start);
  if (path.empty() || sizeof(void*) < 8) return;
  // 4 GiB fewer: the same size in 32 bits.
  REQUIRE(::truncate(path.c_str(), start + table_bytes + 8 - (off_t{1} << 32)) == 0);
  CHECK(message_of<FormatError>([&] { GgufFile::open(path); }).starts_with(path));
}
