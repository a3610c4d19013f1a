// Any bytes as a GGUF file: FormatError, or a file all of whose bytes can be read and which can be
// written again. How much memory may be set aside for it is part of the test (.ci/fuzz).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/formats/gguf_file.hpp"
#include "imbrex/formats/gguf_writer.hpp"
#include "tests/fuzz/input.hpp"

using imbrex::fuzz::require;

namespace {

/// Touches every byte that a value says it has.
void visit(const imbrex::GgufValue& value, unsigned& sum) {
  sum += static_cast<unsigned>(value.describe().size());
  for (const imbrex::GgufValue& element : value.elements()) visit(element, sum);
  for (const std::byte b : value.payload()) sum += std::to_integer<unsigned>(b);
  if (const auto texts = value.to<std::vector<std::string_view>>()) sum += texts->size();
  if (const auto numbers = value.to<std::vector<imbrex::index_t>>()) sum += numbers->size();
}

/// What was read can be written, and read again, but for the longest names: the specification has
/// them, ggml does not take them.
void copy(const imbrex::GgufFile& file) {
  imbrex::GgufWriter writer;
  for (const imbrex::GgufEntry& entry : file.metadata()) {
    if (entry.key != "general.alignment") writer.add(entry.key, entry.value);
  }
  for (const imbrex::GgufTensor& t : file.tensors()) {
    if (std::ssize(t.name) > imbrex::gguf_max_written_name_bytes) return;
    writer.add_tensor(t.name, t.type, {t.dims.data(), static_cast<std::size_t>(t.rank)},
                      {t.data, static_cast<std::size_t>(t.bytes)});
  }
  const std::vector<std::byte> bytes = writer.to_bytes();
  const imbrex::GgufFile again = imbrex::GgufFile::parse(bytes, "copy");
  require(again.tensors().size() == file.tensors().size(), "a copy has as many tensors");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::optional<imbrex::GgufFile> file;
  try {
    file = imbrex::GgufFile::parse(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const imbrex::FormatError&) {
    return 0;
  }
  // From here on nothing may throw: the file was found to be sound.
  unsigned sum = 0;
  for (const imbrex::GgufEntry& entry : file->metadata()) {
    require(file->find(entry.key) == &entry.value, "a key is found");
    visit(entry.value, sum);
  }
  for (const imbrex::GgufTensor& tensor : file->tensors()) {
    require(file->find_tensor(tensor.name) == &tensor, "a tensor is found");
    for (imbrex::index_t i = 0; i < tensor.bytes; ++i) {
      sum += std::to_integer<unsigned>(tensor.data[i]);
    }
  }
  copy(*file);
  [[maybe_unused]] static volatile unsigned sink;  // or reading could be left out
  sink = sum;
  return 0;
}
