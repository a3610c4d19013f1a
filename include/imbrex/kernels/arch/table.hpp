// The table of instruction sets, and the one in use.
#pragma once

#include "imbrex/base/isa.hpp"
#include "imbrex/kernels/arch/avx2/kernels.hpp"
#include "imbrex/kernels/arch/avx512/kernels.hpp"
#include "imbrex/kernels/arch/avx512_vnni/kernels.hpp"
#include "imbrex/kernels/arch/scalar/kernels.hpp"

namespace imbrex::kernels::inline IMBREX_ABI {

/// The kernels of a set. Calling them needs `available(isa)`.
inline const Kernels& kernels_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) {
    return __builtin_cpu_supports("avx512vnni") ? arch::avx512_vnni::kernels
                                                : arch::avx512::kernels;
  }
  if (isa == Isa::avx2) return arch::avx2::kernels;
#endif
  static_cast<void>(isa);
  return arch::scalar::kernels;
}

/// The kernels of the set in use (see `active_isa`). Throws ConfigError as active_isa does.
inline const Kernels& active_kernels() { return kernels_of(active_isa()); }

}  // namespace imbrex::kernels::inline IMBREX_ABI
