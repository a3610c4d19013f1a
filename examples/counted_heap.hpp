#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace examples {

/// Bytes asked for of `operator new` since the start. Of one thread: nobody guards it.
inline std::size_t heap_bytes = 0;

}  // namespace examples

// Every allocation of C++ comes by here. Only a program's one file may include this.
[[gnu::noinline]] void* operator new(std::size_t size) {
  examples::heap_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  std::fprintf(stderr, "no memory for %zu bytes\n", size);
  std::exit(1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
