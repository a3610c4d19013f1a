// All instruction sets' kernels, compiled here.
#pragma once

#include "imbrex/base/isa.hpp"
#include "imbrex/kernels/arch/amx/kernels.hpp"
#include "imbrex/kernels/arch/avx2/kernels.hpp"
#include "imbrex/kernels/arch/avx512/kernels.hpp"
#include "imbrex/kernels/arch/avx512_vnni/kernels.hpp"
#include "imbrex/kernels/arch/neon/kernels.hpp"
#include "imbrex/kernels/arch/neon_dotprod/kernels.hpp"
#include "imbrex/kernels/arch/scalar/kernels.hpp"

namespace imbrex::kernels::arch::inline IMBREX_ABI {

/// The kernels of a set.
inline const Kernels& kernels_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::amx) return amx::kernels;
  if (isa == Isa::avx512) {
    return __builtin_cpu_supports("avx512vnni") ? avx512_vnni::kernels : avx512::kernels;
  }
  if (isa == Isa::avx2) return avx2::kernels;
#elif defined(__aarch64__)
  if (isa == Isa::neon) {
    return isa_detail::has_dot_products() ? neon_dotprod::kernels : neon::kernels;
  }
#endif
  static_cast<void>(isa);
  return scalar::kernels;
}

}  // namespace imbrex::kernels::arch::inline IMBREX_ABI
