// A generation allocates at its start and for its result, not for its tokens.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/generation/tiny_session.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

std::atomic<long> allocations{0};

void* counted_new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// These stand in for the standard library's in this whole program; the array forms call them.
void* operator new(std::size_t size) { return counted_new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("session: ten times as many tokens, no more allocations") {
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
      const long before = allocations;
      const GenerationResult result = session.generate(options, [&](std::string_view piece) {
        bytes += piece.size();
        return true;
      });
      const long made = allocations - before;
      CHECK(static_cast<index_t>(result.tokens.size()) == tokens);
      CHECK(bytes > 0);
      return made;
    };
    counted(4);
    const long of_four = counted(4);
    CHECK(of_four > 0);
    CHECK(counted(40) == of_four);
  }
}
