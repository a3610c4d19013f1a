// What a file says of its own lengths sets no memory aside, in vocabularies; a generation allocates
// at its start and for its result, not for its tokens; and what cannot be had is an error of the
// library.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imbrex/text/gguf_vocabulary.hpp"
#include "tests/generation/tiny_session.hpp"
#include "tests/message_of.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/lies.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

/// Bytes of address space that the process has.
[[maybe_unused]] rlim_t address_space() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Whether run() holds in a process that may have `bytes` more than this one.
template <class Run>
bool holds_within(rlim_t bytes, const Run& run) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{address_space() + bytes, RLIM_INFINITY};
    const bool limited = setrlimit(RLIMIT_AS, &limit) == 0;
    _exit(limited && run() ? 0 : 1);  // what is thrown ends the process, too, and not with 0
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[maybe_unused]] bool gigabyte_is_refused() {
  return mmap(nullptr, std::size_t{1} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
         MAP_FAILED;
}

}  // namespace

TEST_CASE("memory: a vocabulary that lies about its lengths takes a small multiple of its size") {
  REQUIRE(counts_allocations);
  const std::vector<std::byte> sound = fuzz_input("vocabulary/smollm.gguf");
  REQUIRE(sound.size() > 500);
  std::int64_t worst = 0;
  for_each_lie(sound, [&](const std::vector<std::byte>& bytes) {
    start_counting();
    try {
      read_vocabulary(GgufFile::parse(bytes, "m.gguf"));
    } catch (const Error&) {
    }
    worst = (std::max)(worst, allocations.peak.load());
  });
  CHECK(worst > 0);
  CHECK(worst < 64 * static_cast<std::int64_t>(sound.size()) + 65536);
}

TEST_CASE("session: ten times as many tokens, no more allocations") {
  REQUIRE(counts_allocations);
  const Decoder<> decoder = random_decoder();
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  for (const double temperature : {0.0, 1.5}) {
    const auto counted = [&](index_t tokens) {
      Session<> session(decoder, tokenizer, {.capacity = 60});
      session.feed("once upon");
      GenerationOptions options{.max_tokens = tokens, .sampling = {.temperature = temperature}};
      options.sampling.repetition_penalty = 1.1;
      options.sampling.top_k = 200;
      options.sampling.top_p = 0.99;
      options.sampling.min_p = 0.0001;
      options.stops = {"this will not come, and is longer than what fits a string itself"};
      std::size_t bytes = 0;
      start_counting();
      const GenerationResult result = session.generate(options, [&](std::string_view piece) {
        bytes += piece.size();
        return true;
      });
      const std::int64_t made = allocations.calls;
      CHECK(static_cast<index_t>(result.tokens.size()) == tokens);
      CHECK(bytes > 0);
      return made;
    };
    counted(4);
    const std::int64_t of_four = counted(4);
    CHECK(of_four > 0);
    CHECK(counted(40) == of_four);
  }
}

TEST_CASE("session: memory that cannot be had is a CapacityError, wherever it runs out") {
#if defined(IMBREX_TESTS_SANITISED)
  MESSAGE("skipped: sanitizers need address space without a limit");
#else
  if (!holds_within(rlim_t{1} << 20, gigabyte_is_refused)) {
    MESSAGE("skipped: here a limit of the address space limits nothing");  // qemu-user
    return;
  }
  const Decoder<> decoder = Script().decoder();
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  // A position takes 16 bytes in the cache (keys and values, one head of two floats) and 4 for its
  // token: neither fits, the cache alone, and both. All of it, 1.25 GiB, is less than 32 bits count.
  constexpr index_t positions = index_t{1} << 26;
  const auto message = [&] {
    return message_of<CapacityError>(
        [&] { Session<>(decoder, tokenizer, {.capacity = positions, .beyond_context = true}); });
  };
  const auto refused = [&] { return message().starts_with("no memory for "); };
  CHECK(holds_within(8 * rlim_t{positions}, refused));
  CHECK(holds_within(18 * rlim_t{positions}, refused));
  CHECK(holds_within(24 * rlim_t{positions}, [&] { return message() == "(nothing was thrown)"; }));
#endif
}
