// The version, and the one inline namespace that spells every setting that changes code.
//
// All but the types of shapes live in `imbrex::IMBREX_ABI`. Two translation units that were
// compiled with different settings (one with OpenMP and one without, say), or from different
// versions, then refer to different symbols: what they pass to each other does not link, instead of
// one of them silently losing its threads, or calling the other's functions. (Shapes are outside
// for the compiler's errors, which spell them.)
#pragma once

#define IMBREX_VERSION_MAJOR 0
#define IMBREX_VERSION_MINOR 1
#define IMBREX_VERSION_PATCH 0

// Infinities and NaN have meanings here, and sums that were ordered for their error must stay so.
// (clang tells of -ffast-math and -ffinite-math-only, g++ of the other two as well.)
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "imbrex needs IEEE arithmetic: compile without -ffast-math, -Ofast and their parts"
#endif

#if defined(__cpp_exceptions)
#define IMBREX_HAS_EXCEPTIONS 1
#define IMBREX_ABI_EXCEPTIONS
#else
#define IMBREX_HAS_EXCEPTIONS 0
#define IMBREX_ABI_EXCEPTIONS _noexceptions
#endif

#if defined(_OPENMP)
#define IMBREX_HAS_OPENMP 1
#define IMBREX_ABI_OPENMP _openmp
#else
#define IMBREX_HAS_OPENMP 0
#define IMBREX_ABI_OPENMP
#endif

// Whether the kernels are compiled in one unit of the program (see kernels/compiled.hpp).
#if !defined(IMBREX_COMPILED_KERNELS)
#define IMBREX_COMPILED_KERNELS 0
#endif
#if IMBREX_COMPILED_KERNELS
#define IMBREX_ABI_KERNELS _compiled
#else
#define IMBREX_ABI_KERNELS
#endif

// "v0_1_0_openmp" and the like. What is pasted is not looked up as a macro (`_` may be one); the
// second macro is there to have the numbers and the words put in first.
#define IMBREX_ABI_PASTE(a, b, c, openmp, exceptions, kernels) \
  v##a##_##b##_##c##openmp##exceptions##kernels
#define IMBREX_ABI_OF(a, b, c, openmp, exceptions, kernels) \
  IMBREX_ABI_PASTE(a, b, c, openmp, exceptions, kernels)
#define IMBREX_ABI                                                                \
  IMBREX_ABI_OF(IMBREX_VERSION_MAJOR, IMBREX_VERSION_MINOR, IMBREX_VERSION_PATCH, \
                IMBREX_ABI_OPENMP, IMBREX_ABI_EXCEPTIONS, IMBREX_ABI_KERNELS)

namespace imbrex::inline IMBREX_ABI {

/// The library's version as three numbers.
struct Version {
  int major_version, minor_version, patch_version;
};

/// The version of these headers.
inline constexpr Version version{IMBREX_VERSION_MAJOR, IMBREX_VERSION_MINOR, IMBREX_VERSION_PATCH};

}  // namespace imbrex::inline IMBREX_ABI
