// A team of threads that works on one loop after another: posting a loop to it costs about a
// microsecond, also where a core is not free. Who makes the threads is not its business
// (threads.hpp: OpenMP).
//
// One thread leads: it posts loops, works with the others, and goes on when all items are done. The
// others follow: they wait, work, and wait. Items are claimed, not dealt: a thread whose core was
// taken by another process keeps the items it is at from being done, and no others. Each thread
// begins with a part of the loop that is its own, and helps with the others' when that is done:
// what it reads lies side by side, and a processor calls for the next of it by itself.
//
// Who waits looks at one word for spin_nanoseconds, and then sleeps in the kernel until that word
// changes. So a core that somebody else could use is not held, and a wait that is short, as almost
// all are, costs no call of the system.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace threads_detail {

/// How long a thread looks before it sleeps. To sleep and be woken takes 5 to 50 us, so whoever
/// looks as long as that waits at most twice as long as one that knew beforehand. Between two loops
/// of a forward pass are a few us; a time slice of the scheduler is some 100 times as long.
inline constexpr index_t spin_nanoseconds = 20'000;

inline index_t nanoseconds_now() {
  std::timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return index_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Tells the processor that this is a waiting loop, some 1 to 50 ns.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns when `word` is, or was since the call, another than `seen`.
inline void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen, bool spin) {
  if (spin) {
    for (index_t start = 0, now = 0; now - start < spin_nanoseconds;) {
      for (int i = 0; i < 16; ++i) {
        if (word.load(std::memory_order_acquire) != seen) return;
        relax();
      }
      now = nanoseconds_now();
      if (start == 0) start = now;
    }
  }
  word.wait(seen, std::memory_order_acquire);
}

}  // namespace threads_detail

/// What the threads of a team have in common. It belongs to the thread that leads.
class Team {
 public:
  /// Does items [first, last) of a loop; none where last is not beyond first.
  using Run = void (*)(const void* body, index_t first, index_t last);

  /// For `size` threads, the leader among them. They spin, before they sleep, where each has a
  /// core.
  Team(int size, bool spin)
      : size_(size), parts_(static_cast<int>(lesser(size, most_parts))), spin_(spin) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// How many threads there are, the leader among them.
  int size() const { return size_; }

  /// The leader's part: posts a loop, works, and returns when all its items are done.
  void run(index_t items, const void* body, Run function) {
    if (items < 1) return;
    post(items, body, function);
    wake();
    if (work(0)) return;
    const std::uint32_t number = number_;
    for (std::uint32_t seen = done_.load(std::memory_order_acquire); seen != number;
         seen = done_.load(std::memory_order_acquire)) {
      threads_detail::wait_while(done_, seen, spin_);
    }
  }

  /// The part of another, number `thread` of 1 to size() - 1: works on the loops that are posted,
  /// until the team is dismissed.
  void follow(int thread) {
    for (std::uint32_t seen = 0; !dismissed_.load(std::memory_order_relaxed);) {
      threads_detail::wait_while(posted_, seen, spin_);
      seen = posted_.load(std::memory_order_acquire);
      if (!work(thread)) continue;
      done_.store(number_);  // of the loop worked on, which may be posted since `seen` was read
      done_.notify_one();
    }
  }

  /// By the leader: the others return.
  void dismiss() {
    dismissed_.store(true, std::memory_order_relaxed);
    ++number_;
    wake();
  }

 private:
  /// By the leader: makes a loop known.
  void post(index_t items, const void* body, Run function) {
    ++number_;
    items_ = items;
    share_ = ceil_div(items, parts_);
    body_ = body;
    run_ = function;
    done_so_far_.store(0, std::memory_order_relaxed);
    first_ = last_.load(std::memory_order_relaxed);
    last_.store(first_ + share_, std::memory_order_release);
  }

  /// Works on the loop posted last, first on the thread's own part, while there is anything to do.
  /// Returns whether what was done last of all was among it: the loop then stays posted until the
  /// leader knows.
  bool work(int thread) {
    const index_t last = last_.load(std::memory_order_acquire);
    index_t mine = 0;
    for (int i = 0; i < parts_; ++i) mine += work_on((thread + i) % parts_, last);
    if (mine == 0) return false;
    const index_t all = share_ * parts_;
    return done_so_far_.fetch_add(mine, std::memory_order_acq_rel) + mine == all;
  }

  /// Works on a part of the loop that ends at `last`. Returns how many numbers it has claimed.
  index_t work_on(int part, index_t last) {
    // A part has numbers first_ to last_, which go on from loop to loop, so that one is claimed
    // once and for ever: who has claimed one below `last` knows that the loop that ends there is at
    // work, and stays posted until all claims are handed in. So numbers are counted, also those of
    // the last parts that no item belongs to.
    std::atomic<index_t>& next = next_[part].number;
    index_t from = next.load(std::memory_order_relaxed), mine = 0;
    while (from < last) {
      const index_t to = from + claim(last - from);
      if (!next.compare_exchange_weak(from, to, std::memory_order_relaxed)) continue;
      const index_t item = part * share_ - first_;
      run_(body_, item + from, lesser(item + to, items_));
      mine += to - from;
      from = next.load(std::memory_order_relaxed);
    }
    return mine;
  }

  void wake() {
    posted_.store(number_);
    posted_.notify_all();
  }

  /// How many of `left` numbers of a part to take: several, as neighbours share pages and cache
  /// lines, but few, as nobody else can do them: a quarter, and at most 8.
  static index_t claim(index_t left) { return greater(1, lesser(8, left / 4)); }

  /// Parts of a loop, at most: who comes to the end of its own looks at all of them. Larger teams
  /// share them.
  static constexpr index_t most_parts = 16;

  /// The first number of a part that nobody has claimed.
  struct alignas(64) Next {
    std::atomic<index_t> number{0};
  };

  // Each line of the cache has one kind of writer.
  alignas(64) std::atomic<index_t> last_{0};  // the number behind a part's last one
  index_t first_ = 0;                         // its first
  index_t items_ = 0, share_ = 0;             // of the posted loop, and of a part of it
  const void* body_ = nullptr;
  Run run_ = nullptr;
  std::uint32_t number_ = 0;  // the loop's own
  int size_, parts_;
  bool spin_;
  alignas(64) std::atomic<std::uint32_t> posted_{0};  // number_, for those who wait for a loop
  std::atomic<bool> dismissed_{false};
  Next next_[most_parts];
  alignas(64) std::atomic<index_t> done_so_far_{0};  // numbers handed in
  // The number of the last loop that another than the leader ended.
  alignas(64) std::atomic<std::uint32_t> done_{0};
};

}  // namespace imbrex::inline IMBREX_ABI
