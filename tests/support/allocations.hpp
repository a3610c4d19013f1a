// Counts what the process allocates, on any thread. Replaces malloc and its kin, so one file of a
// program includes it. With a sanitiser, which has replaced them already, its hooks count; where
// neither is possible, `counts_allocations` is false.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IMBREX_TESTS_SANITISED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define IMBREX_TESTS_SANITISED 1
#endif
#endif

#if defined(IMBREX_TESTS_SANITISED)
extern "C" {  // of <sanitizer/allocator_interface.h>, which not every compiler comes with
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                              void (*)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void*);
}
#else
#include <malloc.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <mm_malloc.h>  // declares posix_memalign in its own way: before it is defined here
#endif
#endif

namespace imbrex::tests {

/// Since the last `start_counting()`: calls that allocate, and the most bytes that lived at once
/// above those that lived then.
struct Allocations {
  std::atomic<std::int64_t> calls{0}, live{0}, peak{0};

  void add(std::size_t bytes) {
    calls.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t now =
        live.fetch_add(static_cast<std::int64_t>(bytes)) + static_cast<std::int64_t>(bytes);
    std::int64_t seen = peak.load();
    while (now > seen && !peak.compare_exchange_weak(seen, now)) {
    }
  }
  void remove(std::size_t bytes) { live.fetch_sub(static_cast<std::int64_t>(bytes)); }
};

inline Allocations allocations;

inline void start_counting() {
  allocations.calls = 0;
  allocations.live = 0;
  allocations.peak = 0;
}

}  // namespace imbrex::tests

#if defined(IMBREX_TESTS_SANITISED)

namespace imbrex::tests {

inline const bool counts_allocations =
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t bytes) { allocations.add(bytes); },
        [](const volatile void* p) {
          if (p != nullptr) allocations.remove(__sanitizer_get_allocated_size(p));
        }) > 0;

}  // namespace imbrex::tests

#elif defined(__GLIBC__)

namespace imbrex::tests {

inline const bool counts_allocations = true;

inline void* counted(void* p) {
  if (p != nullptr) allocations.add(malloc_usable_size(p));
  return p;
}

}  // namespace imbrex::tests

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) noexcept { return imbrex::tests::counted(__libc_malloc(size)); }
void* calloc(std::size_t n, std::size_t size) noexcept {
  return imbrex::tests::counted(__libc_calloc(n, size));
}
void* realloc(void* p, std::size_t size) noexcept {
  if (p != nullptr) imbrex::tests::allocations.remove(malloc_usable_size(p));
  return imbrex::tests::counted(__libc_realloc(p, size));
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return imbrex::tests::counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return memalign(alignment, size);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t size) noexcept {
  *p = memalign(alignment, size);
  return *p == nullptr ? 12 : 0;  // ENOMEM
}
void free(void* p) noexcept {
  if (p != nullptr) imbrex::tests::allocations.remove(malloc_usable_size(p));
  __libc_free(p);
}

}  // extern "C"

#else

namespace imbrex::tests {
inline const bool counts_allocations = false;
}  // namespace imbrex::tests

#endif
