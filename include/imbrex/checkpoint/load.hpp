// From a file to a decoder.
#pragma once

#include <string>

#include "imbrex/checkpoint/gguf_config.hpp"
#include "imbrex/checkpoint/gguf_weights.hpp"
#include "imbrex/model/decoder.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The decoder in an open GGUF file. With static `dims` the file's sizes are checked against them.
/// The decoder computes straight from the file's bytes and keeps them alive. Throws FormatError for
/// a file that is not sound or not complete, ConfigError for a model that the library cannot
/// compute, ShapeError where the sizes are not `dims`.
template <Dims dims = Dims{}>
Decoder<dims> load(const GgufFile& file, LoadProgress progress = {}) {
  const Config config = config_from_gguf(file);
  decoder_parts::checked(config, dims);
  return Decoder<dims>(config, read_gguf_weights(file, config, progress));
}

/// The same for a path: load("model.gguf"), or load<presets::smollm2_135m.dims>("model.gguf").
template <Dims dims = Dims{}>
Decoder<dims> load(const std::string& path, FileAccess access = FileAccess::map,
                   LoadProgress progress = {}) {
  return load<dims>(GgufFile::open(path, access), progress);
}

/// The same for a literal.
template <Dims dims = Dims{}>
Decoder<dims> load(const char* path, FileAccess access = FileAccess::map,
                   LoadProgress progress = {}) {
  return load<dims>(std::string(path), access, progress);
}

}  // namespace imbrex::inline IMBREX_ABI
