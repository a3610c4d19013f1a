// All of checkpoint/: from files to decoders.
#pragma once

#include "imbrex/checkpoint/gguf_config.hpp"
#include "imbrex/checkpoint/gguf_keys.hpp"
#include "imbrex/checkpoint/gguf_weights.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/checkpoint/tensor_table.hpp"
