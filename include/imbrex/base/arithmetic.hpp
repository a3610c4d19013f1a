// In which arithmetic products with stored weights, and attention, are computed.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>

#include "imbrex/base/errors.hpp"

namespace imbrex::inline IMBREX_ABI {

/// What a product with stored weights may do with its other operand, the activations x.
///
///     f32   x as it is: each weight is multiplied as the float that it stands for
///     int8  x rounded to q d in blocks of 32, q in -127 .. 127 and d = max |x| / 127 of the block;
///           integers are multiplied, and the sum of a block is scaled
///
/// int8 is some 1.5 to 3 times as fast, and adds to a product a relative error of about 5e-3, less
/// than what rounding the weights to 4 bits has. It is what may be done to x, not what must be: a
/// set that has something more exact, and as fast, takes that. Products of many rows do, with
///
///     avx2, scalar, and avx512 without VNNI or neon without dot products
///                                         quantised weights: f32
///     amx                                 quantised and BF16 weights: x, and decoded weights,
///                                         rounded to bf16, products exact and summed in f32; a
///                                         relative error of about 2e-3
///     avx512, on AMD with AVX512_BF16     BF16 weights: x rounded to bf16 likewise
///
/// Products with F32 and F16 weights are f32 always, and so are those with BF16 elsewhere. On `amx`
/// attention of many queries rounds them, keys, values and weights to bf16 as well (see
/// kernels/attention_bf16.hpp). In the arithmetic f32 nothing is rounded on any set.
enum class Arithmetic { f32, int8 };

/// How many there are.
inline constexpr int arithmetic_count = 2;

/// The name by which IMBREX_ARITHMETIC asks for one; "unknown" where there is none.
constexpr const char* name(Arithmetic arithmetic) {
  const int number = static_cast<int>(arithmetic);
  constexpr const char* names[arithmetic_count] = {"f32", "int8"};
  return number >= 0 && number < arithmetic_count ? names[number] : "unknown";
}

namespace arithmetic_detail {

inline std::atomic<int> chosen{-1};  // -1: not chosen yet

/// What IMBREX_ARITHMETIC names; int8 where it names nothing.
inline Arithmetic choose() {
  const char* wanted = std::getenv("IMBREX_ARITHMETIC");
  if (wanted == nullptr || *wanted == '\0') return Arithmetic::int8;
  for (int i = 0; i < arithmetic_count; ++i) {
    const Arithmetic arithmetic = static_cast<Arithmetic>(i);
    if (std::string(wanted) == name(arithmetic)) return arithmetic;
  }
  raise(ConfigError("IMBREX_ARITHMETIC", wanted, "f32 or int8"));
}

}  // namespace arithmetic_detail

/// The arithmetic in use: chosen on first use, from IMBREX_ARITHMETIC if it is set, else int8.
/// Throws ConfigError when IMBREX_ARITHMETIC names none.
inline Arithmetic active_arithmetic() {
  int arithmetic = arithmetic_detail::chosen.load(std::memory_order_relaxed);
  if (arithmetic < 0) {
    arithmetic = static_cast<int>(arithmetic_detail::choose());
    arithmetic_detail::chosen.store(arithmetic, std::memory_order_relaxed);
  }
  return static_cast<Arithmetic>(arithmetic);
}

/// Uses `arithmetic` from now on, in all threads. Throws ConfigError for a value that is none.
inline void use_arithmetic(Arithmetic arithmetic) {
  const int number = static_cast<int>(arithmetic);
  if (number < 0 || number >= arithmetic_count) {
    raise(ConfigError("arithmetic", std::to_string(number), "f32 or int8"));
  }
  arithmetic_detail::chosen.store(number, std::memory_order_relaxed);
}

}  // namespace imbrex::inline IMBREX_ABI
