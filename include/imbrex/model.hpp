// All of model/: configurations, presets, the ledger, and the decoder.
#pragma once

#include "imbrex/model/chunks.hpp"
#include "imbrex/model/config.hpp"
#include "imbrex/model/config_check.hpp"
#include "imbrex/model/decoder.hpp"
#include "imbrex/model/decoder_core.hpp"
#include "imbrex/model/decoder_parts.hpp"
#include "imbrex/model/decoder_weights.hpp"
#include "imbrex/model/dims.hpp"
#include "imbrex/model/kv_cache.hpp"
#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"
#include "imbrex/model/workspace.hpp"
