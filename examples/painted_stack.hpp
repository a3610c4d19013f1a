// How much stack a piece of work uses.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "imbrex/base/errors.hpp"

namespace examples {

/// Bytes of stack that `run` uses: it runs on a thread whose stack was painted before, and what is
/// no longer of that colour was used. Throws Error where there is no such thread.
template <class Run>
std::size_t stack_bytes(const Run& run) {
  constexpr std::size_t size = std::size_t{1} << 20, page = 4096;
  constexpr unsigned char paint = 0xA5;
  std::vector<unsigned char> room(size + page, paint);
  unsigned char* stack =
      room.data() + (page - reinterpret_cast<std::uintptr_t>(room.data()) % page);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  const auto start = [](void* r) -> void* {
    (*static_cast<const Run*>(r))();
    return nullptr;
  };
  const bool started = pthread_attr_setstack(&attributes, stack, size) == 0 &&
                       pthread_create(&thread, &attributes, start, const_cast<Run*>(&run)) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) imbrex::raise(imbrex::Error("no thread with a stack of its own"));
  pthread_join(thread, nullptr);
  const auto painted = [](unsigned char c) { return c == paint; };
  return static_cast<std::size_t>(stack + size - std::find_if_not(stack, stack + size, painted));
}

}  // namespace examples
