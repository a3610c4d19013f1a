// Files that lie about lengths: a sound file with one number in it replaced by a large one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace imbrex::tests {

/// An input that the fuzzers began with: "load/small.gguf".
inline std::vector<std::byte> fuzz_input(const std::string& name) {
  std::ifstream file(IMBREX_GOLDEN_DIR "/../fuzz/corpus/" + name, std::ios::binary);
  const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Calls use(bytes) with each run of 4 and of 8 bytes of the file replaced by numbers that
/// would be gigabytes, or wrap around, if they were believed.
template <class Use>
void for_each_lie(const std::vector<std::byte>& sound, const Use& use) {
  constexpr std::uint64_t values[] = {1u << 20,   1u << 30,   0x7FFFFFFF, 0xFFFFFFFF,
                                      1ull << 32, 1ull << 40, 1ull << 61, (1ull << 62) + 1,
                                      ~0ull >> 1, ~0ull};
  for (const std::size_t width : {4, 8}) {
    for (std::size_t at = 0; at + width <= sound.size(); ++at) {
      for (const std::uint64_t value : values) {
        if (width == 4 && value >> 32 != 0) break;
        std::vector<std::byte> bytes = sound;
        std::memcpy(bytes.data() + at, &value, width);
        use(bytes);
      }
    }
  }
}

}  // namespace imbrex::tests
