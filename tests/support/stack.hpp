// How much stack a piece of work takes.
#pragma once

#include <doctest/doctest.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace imbrex::tests {

/// Bytes of stack that `run` uses on a thread of its own, whose stack was painted before.
template <class Run>
std::size_t stack_bytes(const Run& run) {
  constexpr std::size_t size = std::size_t{1} << 20;
  constexpr unsigned char paint = 0xA5;
  std::vector<unsigned char> room(size + 4096, paint);
  unsigned char* stack =
      room.data() + (4096 - reinterpret_cast<std::uintptr_t>(room.data()) % 4096);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstack(&attributes, stack, size) == 0);
  pthread_t thread;
  const auto start = [](void* r) -> void* {
    (*static_cast<const Run*>(r))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, const_cast<Run*>(&run)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  std::size_t untouched = 0;
  while (untouched < size && stack[untouched] == paint) ++untouched;
  return size - untouched;
}

}  // namespace imbrex::tests
