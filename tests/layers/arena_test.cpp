#include "imbrex/layers/arena.hpp"

#include <doctest/doctest.h>

#include "tests/support/layers.hpp"

using namespace imbrex;
using namespace imbrex::tests;

TEST_CASE("arena: it counts first, and then takes what it counted") {
  const auto cut = [](Arena& arena) {
    return std::pair(arena.take(Time<>(3), Model<5>()), arena.take(Time<>(0), Model<5>()));
  };
  Arena counted;
  CHECK(cut(counted).first.data() == nullptr);
  CHECK(counted.used() == 16);
  Buffer<float> memory(counted.used());
  Arena arena(memory.data(), memory.size());
  const auto [x, none] = cut(arena);
  CHECK(x.data() == memory.data());
  CHECK(none.count() == 0);
  CHECK(arena.used() == counted.used());
}

TEST_CASE("arena: more than the block has is a CapacityError, and nothing is taken") {
  Buffer<float> memory(40);
  Arena arena(memory.data(), 40);
  arena.take(Time<>(1), Model<>(20));  // the next one starts at 32
  CHECK(error_of<CapacityError>([&] { arena.take(Time<>(9)); }) ==
        "scratch memory: expected 41 floats or more, got 40");
  CHECK(arena.used() == 32);
  CHECK(arena.take(Time<>(8)).data() == memory.data() + 32);
  CHECK(error_of<CapacityError>([] { Arena(nullptr, 0).take(Time<>(1)); }) ==
        "scratch memory: expected 1 floats or more, got 0");
}
