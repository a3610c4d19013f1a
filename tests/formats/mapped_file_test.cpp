#include "imbrex/formats/mapped_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "tests/formats/scratch_directory.hpp"

using namespace imbrex;

namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string fault(const std::string& path, FileAccess access) {
  try {
    const MappedFile file(path, access);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

static_assert(!std::is_copy_constructible_v<MappedFile>);
static_assert(std::is_nothrow_move_constructible_v<MappedFile>);

TEST_CASE("both ways of access give the file's bytes, aligned") {
  const ScratchDirectory scratch;
  const std::string text = "abc def and so on" + std::string(10000, 'x');
  const std::string path = scratch.file("file", text);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const MappedFile file(path, access);
    CHECK(file.path() == path);
    CHECK(text_of(file) == text);
    CHECK(reinterpret_cast<std::uintptr_t>(file.bytes().data()) % 64 == 0);
  }
}

TEST_CASE("moving keeps the bytes where they are") {
  const ScratchDirectory scratch;
  const std::string one = scratch.file("one", "1"), two = scratch.file("two", "22");
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    MappedFile a(one, access);
    const std::byte* data = a.bytes().data();
    MappedFile b(std::move(a));
    CHECK(b.bytes().data() == data);
    MappedFile c(two, access == FileAccess::map ? FileAccess::read : FileAccess::map);
    c = std::move(b);
    CHECK(c.bytes().data() == data);
    CHECK(c.path() == one);
    CHECK(text_of(c) == "1");
  }
}

TEST_CASE("a file larger than the memory that there is cannot be read, and says so") {
  const ScratchDirectory scratch;
  // All of it is a hole. 4 TiB, or as much as the file system lets a file have.
  const std::string path = scratch.file("huge", "x");
  if (::truncate(path.c_str(), off_t{1} << 42) != 0) return;
  const std::string problem = sizeof(void*) < 8
                                  ? ": its 4398046511104 bytes do not fit the address space"
                                  : ": no memory for its 4398046511104 bytes";
  CHECK_THROWS_WITH_AS(MappedFile(path, FileAccess::read), (path + problem).c_str(), CapacityError);
}

TEST_CASE("what cannot be opened is an error that names the file") {
  const ScratchDirectory scratch;
  const std::string empty = scratch.file("empty", "");
  const std::string missing = scratch / "missing", pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    CHECK(fault(missing, access) == missing + ": cannot be opened: No such file or directory");
    CHECK(fault(scratch.path(), access) == scratch.path() + ": is a directory: expected a file");
    CHECK(fault(empty, access) == empty + ": is empty");
    CHECK(fault(pipe, access) == pipe + ": is not a regular file");  // and does not wait
    CHECK(fault("", access) == "cannot be opened: No such file or directory");
  }
}
