// All of generation/: samplers and sessions. Needs PCRE2, as text/ does.
#pragma once

#include "imbrex/generation/generation_options.hpp"
#include "imbrex/generation/sampler.hpp"
#include "imbrex/generation/sampling_options.hpp"
#include "imbrex/generation/session.hpp"
#include "imbrex/generation/statistics.hpp"
#include "imbrex/generation/stop_text.hpp"
