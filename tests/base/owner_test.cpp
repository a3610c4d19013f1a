#include "imbrex/base/owner.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

using namespace imbrex;

namespace {

/// Counts how many of its kind, moved-from ones aside, are alive.
struct Counted {
  explicit Counted(int& n) : alive(&n) { ++*alive; }
  Counted(Counted&& other) noexcept : alive(std::exchange(other.alive, nullptr)) {}
  Counted(const Counted&) = delete;
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (alive != nullptr) --*alive;
  }
  int* alive;
};

}  // namespace

TEST_CASE("the object lives as long as the last handle") {
  int alive = 0;
  Owner first = Owner::of(Counted(alive));
  CHECK(alive == 1);
  {
    const Owner second = first;
    Owner third;
    third = second;
    CHECK(bool(third));
    first = Owner();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("moving takes the handle, and copying to oneself keeps it") {
  int alive = 0;
  Owner a = Owner::of(Counted(alive));
  Owner b = std::move(a);
  CHECK_FALSE(bool(a));
  const Owner& same = b;
  b = same;
  CHECK(alive == 1);
  a = std::move(b);
  CHECK(alive == 1);
  a = Owner::of(Counted(alive));
  CHECK(alive == 1);
  a = Owner();
  CHECK(alive == 0);
}

TEST_CASE("objects without copies can be owned") {
  const Owner owner = Owner::of(std::make_unique<int>(3));
  CHECK(bool(owner));
}

TEST_CASE("handles may be copied and dropped by many threads") {
  int alive = 0;
  {
    const Owner owner = Owner::of(Counted(alive));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&owner] {
        for (int i = 0; i < 10000; ++i) Owner copy = owner;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}
