// The table of instruction sets, and the one in use.
#pragma once

#include "imbrex/base/isa.hpp"
#include "imbrex/kernels/arch/kernels.hpp"

#if !IMBREX_COMPILED_KERNELS
#include "imbrex/kernels/arch/sets.hpp"
#endif

namespace imbrex::kernels::inline IMBREX_ABI {

/// The kernels of a set. Calling them needs `available(isa)`.
#if IMBREX_COMPILED_KERNELS
const Kernels& kernels_of(Isa isa);  // "imbrex/kernels/compiled.hpp", in one unit of the program
#else
inline const Kernels& kernels_of(Isa isa) { return arch::kernels_of(isa); }
#endif

/// The kernels of the set in use (see `active_isa`). Throws ConfigError as active_isa does.
inline const Kernels& active_kernels() { return kernels_of(active_isa()); }

}  // namespace imbrex::kernels::inline IMBREX_ABI
