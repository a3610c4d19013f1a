// Instruction sets: which exist, which this machine has, and which one the library uses.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>

#include "imbrex/base/errors.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace imbrex::inline IMBREX_ABI {

/// Instruction sets with kernels of their own, weakest first. A machine has those of its
/// processor's kind: `neon` is 64-bit ARM's, the ones behind it are x86's.
enum class Isa { scalar, neon, avx2, avx512, amx };

/// How many sets there are.
inline constexpr int isa_count = 5;

/// The name by which IMBREX_ISA asks for a set; "unknown" where there is no such set.
constexpr const char* name(Isa isa) {
  const int number = static_cast<int>(isa);
  constexpr const char* names[isa_count] = {"scalar", "neon", "avx2", "avx512", "amx"};
  return number >= 0 && number < isa_count ? names[number] : "unknown";
}

#if defined(__x86_64__)
namespace isa_detail {

/// F16C, which clang 14 cannot ask for by name. The operating system's part in it is that of AVX.
inline bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/// Tiles and their products in bf16: of the processor, leaf 7's EDX bits 22 (AMX-BF16) and 24
/// (AMX-TILE).
inline bool has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1) != 0 && (d >> 24 & 1) != 0;
}

/// Whether the system saves tiles: bits 17 and 18 of XCR0. It may be read where the system says
/// that it uses such registers (OSXSAVE).
inline bool system_saves_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3) == 3;
}

/// Whether the system lets this process use tiles. Linux has to be asked, once a process: tiles
/// are 8 kB that signal frames and every switch of threads then have to hold.
inline bool may_use_tiles() {
#if defined(__linux__)
  static const bool granted = [] {
    // arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA), without the system's headers for one call.
    constexpr long arch_prctl = 158, request_permission = 0x1023, tile_data = 18;
    long result = arch_prctl;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(request_permission), "S"(tile_data)
                 : "rcx", "r11", "memory");
    return result == 0;
  }();
  return granted;
#else
  return false;
#endif
}

}  // namespace isa_detail
#elif defined(__aarch64__)
namespace isa_detail {

/// Whether the processor has SDOT, the sums of products of bytes. Linux says so; of other systems
/// what the program is compiled for is believed (Apple's compilers ask for it).
inline bool has_dot_products() {
#if defined(__ARM_FEATURE_DOTPROD)
  return true;
#elif defined(__linux__)
  constexpr unsigned long asimddp = 1ul << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & asimddp) != 0;
#else
  return false;
#endif
}

}  // namespace isa_detail
#endif

/// Whether this machine, and its operating system, run the set: all that its kernels are compiled
/// for.
inline bool available(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::scalar:
      return true;
    case Isa::neon:
      return false;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             isa_detail::has_f16c();
    case Isa::avx512:
      return available(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq");
    case Isa::amx:
      return available(Isa::avx512) && __builtin_cpu_supports("avx512vnni") &&
             __builtin_cpu_supports("avx512bf16") && isa_detail::has_tiles() &&
             isa_detail::system_saves_tiles() && isa_detail::may_use_tiles();
  }
  return false;
#elif defined(__aarch64__)
  return isa == Isa::scalar || isa == Isa::neon;
#else
  return isa == Isa::scalar;
#endif
}

namespace isa_detail {

inline std::atomic<int> chosen_isa{-1};  // -1: not chosen yet

inline std::string available_isa_names() {
  std::string names;
  for (int i = 0; i < isa_count; ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (available(isa)) names += (names.empty() ? "" : ", ") + std::string(name(isa));
  }
  return names;
}

/// Whether a set is used only where it is asked for by name. AMX is: its kernels were run on an
/// emulated processor and on no real one, so that neither their speed nor the last bits of their
/// sums are known.
constexpr bool must_be_asked_for(Isa isa) { return isa == Isa::amx; }

/// The set that IMBREX_ISA names, or the best one of this machine that need not be asked for.
inline Isa choose_isa() {
  const char* wanted = std::getenv("IMBREX_ISA");
  Isa best = Isa::scalar;
  for (int i = 0; i < isa_count; ++i) {
    const Isa isa = static_cast<Isa>(i);
    const bool asked = wanted != nullptr && std::string(wanted) == name(isa);
    if ((must_be_asked_for(isa) && !asked) || !available(isa)) continue;
    if (asked) return isa;
    best = isa;
  }
  if (wanted != nullptr && *wanted != '\0') {
    raise(ConfigError("IMBREX_ISA", wanted, "one that this machine has: " + available_isa_names()));
  }
  return best;
}

}  // namespace isa_detail

/// The set in use: chosen on first use, from IMBREX_ISA if it is set, else the best there is, but
/// for `amx`, which must be asked for by name.
/// Throws ConfigError when IMBREX_ISA names one that this machine does not have.
inline Isa active_isa() {
  int isa = isa_detail::chosen_isa.load(std::memory_order_relaxed);
  if (isa < 0) {
    isa = static_cast<int>(isa_detail::choose_isa());
    isa_detail::chosen_isa.store(isa, std::memory_order_relaxed);
  }
  return static_cast<Isa>(isa);
}

/// Uses `isa` from now on. Throws ConfigError when this machine does not have it.
inline void use_isa(Isa isa) {
  if (!available(isa)) {
    raise(ConfigError("isa", name(isa),
                      "one that this machine has: " + isa_detail::available_isa_names()));
  }
  isa_detail::chosen_isa.store(static_cast<int>(isa), std::memory_order_relaxed);
}

}  // namespace imbrex::inline IMBREX_ABI
