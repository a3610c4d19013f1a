// What a program needs that runs a model, but for text: needs nothing but the C++ library.
// Tokenizers and sessions are in "imbrex/text.hpp" and "imbrex/generation.hpp", which need PCRE2;
// writing files is in "imbrex/formats.hpp", and the plain-loop references are in
// "imbrex/kernels.hpp".
#pragma once

#include "imbrex/base.hpp"
#include "imbrex/checkpoint.hpp"
#include "imbrex/layers.hpp"
#include "imbrex/model.hpp"
#include "imbrex/tensor.hpp"
