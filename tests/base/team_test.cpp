#include "imbrex/base/team.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "imbrex/base/random.hpp"

using namespace imbrex;

namespace {

/// A team whose other threads are of the test's own making.
struct Started {
  Started(int size, bool spin) : team(size, spin) {
    for (int i = 1; i < size; ++i) threads.emplace_back([this, i] { team.follow(i); });
  }
  ~Started() {
    team.dismiss();
    for (std::thread& thread : threads) thread.join();
  }

  Team team;
  std::vector<std::thread> threads;
};

/// A loop that counts how often each of its items was run.
struct Counted {
  explicit Counted(index_t count)
      : items(count), runs(new std::atomic<int>[static_cast<std::size_t>(count + 1)]()) {}

  void run(Team& team) {
    team.run(items, this, [](const void* self, index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) static_cast<const Counted*>(self)->runs.get()[i] += 1;
    });
  }
  bool each_ran(int times) const {
    for (index_t i = 0; i < items; ++i) {
      if (runs.get()[i] != times) return false;
    }
    return runs.get()[items] == 0;
  }

  index_t items;
  std::unique_ptr<std::atomic<int>[]> runs;
};

}  // namespace

TEST_CASE("team: every item of every loop runs once, and the loop ends behind them all") {
  for (const bool spin : {false, true}) {
    for (const int size : {1, 2, 3, 8, 20}) {  // of more than 16, some share a part
      CAPTURE(size);
      Started started(size, spin);
      for (const index_t items : {0, 1, 2, 3, 7, 17, 100, 5000}) {
        CAPTURE(items);
        Counted counted(items);
        for (int times = 1; times <= 3; ++times) {
          counted.run(started.team);
          CHECK(counted.each_ran(times));
        }
      }
    }
  }
}

// Loops so short, of items so uneven, that some threads find out about one when it is over and the
// next one is there: which is then the one that they work on, and report.
TEST_CASE("team: short uneven loops in quick succession") {
  for (const int size : {3, 8}) {
    CAPTURE(size);
    Started started(size, false);
    std::atomic<index_t> sum{0};
    constexpr index_t loops = 3000, items = 2;
    for (index_t loop = 0; loop < loops; ++loop) {
      started.team.run(items, &sum, [](const void* p, index_t first, index_t last) {
        static thread_local Random random(1);
        for (index_t pauses = static_cast<index_t>(random() % 256); pauses > 0; --pauses) {
          threads_detail::relax();
        }
        auto& s = *static_cast<std::atomic<index_t>*>(const_cast<void*>(p));
        for (index_t i = first; i < last; ++i) s += i + 1;
      });
      if (loop % 7 == 0) std::this_thread::yield();
    }
    CHECK(sum == loops * items * (items + 1) / 2);
  }
}

TEST_CASE("team: the leader does not wait for threads that have not come") {
  Team team(4, true);
  Counted counted(1000);
  counted.run(team);
  CHECK(counted.each_ran(1));
  std::thread late([&] { team.follow(3); });
  counted.run(team);
  CHECK(counted.each_ran(2));
  team.dismiss();
  late.join();
  std::thread too_late([&] { team.follow(1); });  // returns all the same
  too_late.join();
}

// What another process on a core does to a team: one thread stands still in the middle of an item.
TEST_CASE("team: a thread that is held up holds up the items it has claimed, and no others") {
  Started started(2, true);
  struct Loop {
    std::atomic<int> others{0};
    std::atomic<bool> in_time{false};
  } loop;
  constexpr index_t items = 13;  // fewer than 8 in each part: claimed one by one
  started.team.run(items, &loop, [](const void* p, index_t first, index_t last) {
    Loop& l = *static_cast<Loop*>(const_cast<void*>(p));
    for (index_t i = first; i < last; ++i) {
      if (i != 0) {
        ++l.others;
        continue;
      }
      const index_t start = threads_detail::nanoseconds_now();
      while (l.others < items - 1 &&
             threads_detail::nanoseconds_now() - start < index_t{60} * 1'000'000'000) {
        std::this_thread::yield();
      }
      l.in_time = l.others == items - 1;
    }
  });
  CHECK(loop.in_time);
}

TEST_CASE("team: each thread begins with the items of its own part") {
  // Two threads wait for each other at their first items: each has begun with its half.
  Started started(2, true);
  struct Loop {
    std::atomic<int> begun{0};
    std::atomic<index_t> sum{0};
  } loop;
  started.team.run(12, &loop, [](const void* p, index_t first, index_t last) {
    Loop& l = *static_cast<Loop*>(const_cast<void*>(p));
    if (l.begun < 2) {
      ++l.begun;
      l.sum += first;
      const index_t start = threads_detail::nanoseconds_now();
      while (l.begun < 2 &&
             threads_detail::nanoseconds_now() - start < index_t{60} * 1'000'000'000) {
        std::this_thread::yield();
      }
    }
    l.sum += 100 * (last - first);
  });
  CHECK(loop.sum == 0 + 6 + 12 * 100);
}
