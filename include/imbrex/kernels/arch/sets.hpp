// All instruction sets' kernels, compiled here.
#pragma once

#include "imbrex/base/isa.hpp"
#include "imbrex/kernels/arch/amx/kernels.hpp"
#include "imbrex/kernels/arch/avx2/kernels.hpp"
#include "imbrex/kernels/arch/avx512/kernels.hpp"
#include "imbrex/kernels/arch/avx512_bf16/kernels.hpp"
#include "imbrex/kernels/arch/avx512_vnni/kernels.hpp"
#include "imbrex/kernels/arch/neon/kernels.hpp"
#include "imbrex/kernels/arch/neon_dotprod/kernels.hpp"
#include "imbrex/kernels/arch/scalar/kernels.hpp"

namespace imbrex::kernels::arch::inline IMBREX_ABI {

#if defined(__x86_64__)
/// Whether this processor multiplies pairs of bf16, two multiply-adds in a lane, as often as it
/// multiplies floats, one. Those of AMD that can do (Zen 4: bench_machine's `bf16_pairs` is twice
/// its `fma_f32`). Those of Intel start half as many, so that x would be rounded for nothing; fast
/// bf16 is in tiles there. The maker is asked for, and nothing is measured, so that a machine
/// always computes the same bits.
inline bool pairs_pay() {
  return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("avx512bf16");
}
#endif

/// The kernels of a set.
inline const Kernels& kernels_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::amx) return amx::kernels;
  if (isa == Isa::avx512) {
    if (pairs_pay()) return avx512_bf16::kernels;
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
