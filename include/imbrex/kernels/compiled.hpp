// Kernels compiled once for a program, instead of in each of its units that multiply.
//
// Every unit is compiled with IMBREX_COMPILED_KERNELS defined as 1, and one of them, that need not
// have anything else, includes this header. Without that macro it does nothing. (Units that
// disagree do not link where they pass each other something: see base/version.hpp.)
#pragma once

#include "imbrex/kernels/arch/table.hpp"

#if IMBREX_COMPILED_KERNELS
#include "imbrex/kernels/arch/sets.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

const Kernels& kernels_of(Isa isa) { return arch::kernels_of(isa); }

}  // namespace imbrex::kernels::inline IMBREX_ABI
#endif
