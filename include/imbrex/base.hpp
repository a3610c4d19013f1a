// All of base/: indices, errors, number formats, threads, instruction sets, random numbers.
#pragma once

#include "imbrex/base/activation.hpp"
#include "imbrex/base/arithmetic.hpp"
#include "imbrex/base/bf16.hpp"
#include "imbrex/base/dtype.hpp"
#include "imbrex/base/errors.hpp"
#include "imbrex/base/f16.hpp"
#include "imbrex/base/function_ref.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/isa.hpp"
#include "imbrex/base/owner.hpp"
#include "imbrex/base/printable.hpp"
#include "imbrex/base/random.hpp"
#include "imbrex/base/rope_pairs.hpp"
#include "imbrex/base/threads.hpp"
#include "imbrex/base/token.hpp"
#include "imbrex/base/version.hpp"
