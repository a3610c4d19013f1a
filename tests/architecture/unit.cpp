// Every header after the macros that other people's headers leave behind (windows.h,
// sys/sysmacros.h and test frameworks among them). What the library includes of others is not
// expected to survive them, so it comes first.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif
#if defined(_OPENMP)
#include <omp.h>
#endif
#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#endif
#if __has_include(<pcre2.h>)
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

#undef major
#undef minor
#undef unix
#undef linux
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define near
#define far
#define I _Complex_I
#define OUT
#define IN
#define ERROR 0
#define CHECK(condition) ((void)(condition))
#define DELETE 0x00010000L
#define major(x) ((x) >> 8)
#define minor(x) ((x) & 0xFF)
#define unix 1
#define linux 1
#define interface struct
#define TRUE 1
#define FALSE 0
#define VOID void
#define DEBUG 1
#define INFO(message) ((void)(message))
#define FAIL(message) ((void)(message))
#define LOG(level) (level)
#define TEST(suite, name) void suite##name()

#include "all_headers.hpp"

// For two_units.cpp.
const void* threads_setting_of_unit();
const void* threads_setting_of_unit() { return &imbrex::threads_detail::chosen_threads; }
