// All of formats/: files as bytes and named tensors.
#pragma once

#include "imbrex/formats/byte_reader.hpp"
#include "imbrex/formats/file_replacement.hpp"
#include "imbrex/formats/gguf_file.hpp"
#include "imbrex/formats/gguf_reader.hpp"
#include "imbrex/formats/gguf_tensor.hpp"
#include "imbrex/formats/gguf_type.hpp"
#include "imbrex/formats/gguf_value.hpp"
#include "imbrex/formats/gguf_writer.hpp"
#include "imbrex/formats/mapped_file.hpp"
