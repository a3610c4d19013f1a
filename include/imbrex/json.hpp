// JSON documents: config.json and the like. Needs nlohmann-json, which formats.hpp does not.
#pragma once

#include "imbrex/formats/json.hpp"
#include "imbrex/formats/json_value.hpp"
