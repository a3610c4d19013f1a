// What a file says of its own lengths sets no memory aside: reading takes a small multiple of the
// bytes that are there.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "imbrex/checkpoint/load.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/lies.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

/// The most bytes that lived at once while `run` ran, its errors included; they are the library's.
template <class Run>
std::int64_t peak_of(const Run& run) {
  start_counting();
  try {
    run();
  } catch (const Error&) {
  }
  return allocations.peak;
}

/// Of the description of one byte of a file; messages and what any object takes besides.
std::int64_t limit(const std::vector<std::byte>& bytes) {
  return 64 * static_cast<std::int64_t>(bytes.size()) + 65536;
}

}  // namespace

TEST_CASE("memory: a GGUF file that lies about its lengths takes a small multiple of its size") {
  REQUIRE(counts_allocations);
  for (const char* name : {"gguf/empty.gguf", "gguf/nested.gguf", "gguf/tensors.gguf",
                           "gguf/zero_dim.gguf", "gguf/python.gguf"}) {
    CAPTURE(name);
    const std::vector<std::byte> sound = fuzz_input(name);
    REQUIRE(sound.size() > 20);
    std::int64_t worst = 0;
    for_each_lie(sound, [&](const std::vector<std::byte>& bytes) {
      worst = (std::max)(worst, peak_of([&] {
                           const GgufFile file = GgufFile::parse(bytes, "m.gguf");
                           for (const GgufEntry& entry : file.metadata()) entry.value.describe();
                           for (const GgufEntry& entry : file.metadata()) {
                             entry.value.to<std::vector<std::string>>();
                             entry.value.to<std::vector<index_t>>();
                           }
                         }));
    });
    CHECK(worst > 0);
    CHECK(worst < limit(sound));
  }
}

TEST_CASE("memory: a model that lies about its sizes takes a small multiple of its size") {
  REQUIRE(counts_allocations);
  for (const char* name : {"load/small.gguf", "load/whole.gguf"}) {
    CAPTURE(name);
    const std::vector<std::byte> sound = fuzz_input(name);
    REQUIRE(sound.size() > 1000);
    REQUIRE(load(GgufFile::parse(sound, name)).config().dims.layers == 1);
    std::int64_t worst = 0;
    for_each_lie(sound, [&](const std::vector<std::byte>& bytes) {
      worst = (std::max)(worst, peak_of([&] { load(GgufFile::parse(bytes, "m.gguf")); }));
    });
    CHECK(worst > 0);
    CHECK(worst < limit(sound));
  }
}
