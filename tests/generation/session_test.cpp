#include "imbrex/generation/session.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "imbrex/text/chat.hpp"
#include "tests/generation/tiny_session.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

using Pieces = std::vector<std::string>;

constexpr GenerationOptions greedy(index_t max_tokens = 256) {
  return {.max_tokens = max_tokens, .sampling = {.temperature = 0}};
}

Tokens tokens_of(const std::string& text) {
  Tokens ids;
  for (const char c : text) ids.push_back(byte_token(c));
  return ids;
}

Tokens tokens_of(const Session<>& session) {
  return {session.tokens().begin(), session.tokens().end()};
}

std::string joined(const Pieces& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

/// Generates; returns what was delivered, a string a call.
Pieces pieces_of(Session<>& session, const GenerationOptions& options,
                 GenerationResult* result = nullptr) {
  Pieces pieces;
  const GenerationResult got = session.generate(options, [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return true;
  });
  if (result != nullptr) *result = got;
  return pieces;
}

std::vector<float> logits_of(Session<>& session) {
  return {session.logits().begin(), session.logits().end()};
}

/// Random weights, the prompt "once" and a sampled continuation, from which each test takes what it
/// needs: the token to end at, the text to stop at.
struct Random1 {
  Decoder<> decoder = random_decoder();
  Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  GenerationOptions options{.max_tokens = 12, .sampling = {.temperature = 1.5}, .seed = 7};
  Tokens prompt = tokens_of("once upon a time"), continuation;

  Random1() {
    Session<> session(decoder, tokenizer, {.capacity = 40});
    session.feed(prompt);
    continuation = session.generate(options).tokens;
    REQUIRE(continuation.size() == 12);
  }

  Tokens first(std::size_t n) const {
    return {continuation.begin(), continuation.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  /// The session holds the prompt and `generated`; it is as long as its cache; and its logits are,
  /// now and after a token more, those of a session that was fed the same tokens, bit for bit.
  void check(Session<>& session, const Tokens& generated) const {
    Tokens all = prompt;
    all.insert(all.end(), generated.begin(), generated.end());
    CHECK(tokens_of(session) == all);
    CHECK(session.capacity() - session.room() == static_cast<index_t>(all.size()));
    Session<> fresh(decoder, tokenizer, {.capacity = 41});
    fresh.feed(prompt);
    for (const token_t token : generated) fresh.feed({&token, 1});
    CHECK(different_bits(logits_of(session), logits_of(fresh)) == "");
    if (session.room() == 0) return;
    const token_t more = 'z';
    session.feed({&more, 1});
    fresh.feed({&more, 1});
    CHECK(different_bits(logits_of(session), logits_of(fresh)) == "");
  }
};

}  // namespace

TEST_CASE("session: however a generation ends, it holds what was generated and can go on") {
  const Random1 r;
  Session<> session(r.decoder, r.tokenizer, {.capacity = 40});
  session.feed(r.prompt);
  GenerationOptions options = r.options;
  GenerationResult result;

  SUBCASE("length") {
    options.max_tokens = 5;
    const std::string text = joined(pieces_of(session, options, &result));
    CHECK(result.reason == StopReason::length);
    CHECK(result.tokens == r.first(5));
    CHECK(text == r.tokenizer.decode(r.first(5)));
    r.check(session, r.first(5));
  }
  SUBCASE("no tokens at all") {
    options.max_tokens = 0;
    CHECK(pieces_of(session, options, &result).empty());
    CHECK(result.reason == StopReason::length);
    CHECK(result.tokens.empty());
    r.check(session, {});
  }
  SUBCASE("the callback returns false") {
    std::string text;
    int calls = 0;
    result = session.generate(options, [&](std::string_view piece) {
      text += piece;
      return ++calls < 3;
    });
    CHECK(calls == 3);
    CHECK(result.reason == StopReason::callback);
    CHECK(text == r.tokenizer.decode(result.tokens).substr(0, text.size()));
    CHECK(result.tokens == r.first(result.tokens.size()));
    r.check(session, result.tokens);
  }
  SUBCASE("the callback throws") {
    std::string text;
    int calls = 0;
    const auto failing = [&](std::string_view piece) {
      text += piece;
      if (++calls == 3) throw std::runtime_error("no more");
      return true;
    };
    CHECK_THROWS_AS(session.generate(options, failing), const std::runtime_error&);
    const std::size_t generated = session.tokens().size() - r.prompt.size();
    CHECK(generated >= 3);
    CHECK(text == r.tokenizer.decode(r.first(generated)).substr(0, text.size()));
    r.check(session, r.first(generated));
  }
  SUBCASE("the cache is full") {
    Session<> narrow(r.decoder, r.tokenizer,
                     {.capacity = static_cast<index_t>(r.prompt.size()) + 4});
    narrow.feed(r.prompt);
    std::string text;
    const auto collect = [&](std::string_view piece) {
      text += piece;
      return true;
    };
    CHECK(complaint<CapacityError>([&] { narrow.generate(options, collect); }) ==
          "session: it is full: it has room for 20 tokens");
    CHECK(text == r.tokenizer.decode(r.first(4)));
    r.check(narrow, r.first(4));
    CHECK(narrow.room() == 0);
    CHECK_THROWS_AS(narrow.generate(options), const CapacityError&);  // and again
    narrow.truncate(static_cast<index_t>(r.prompt.size()) + 2);       // makes room
    r.check(narrow, r.first(2));
  }
}

TEST_CASE("session: the end token ends it, and is not part of it") {
  const Random1 r;
  VocabularyParts parts = byte_vocabulary();
  parts.special.end = r.continuation[6];
  const Tokenizer tokenizer{Vocabulary(parts)};
  std::size_t length = 0;
  while (r.continuation[length] != parts.special.end) ++length;
  for (const index_t capacity : {index_t{40}, static_cast<index_t>(r.prompt.size() + length)}) {
    Session<> session(r.decoder, tokenizer, {.capacity = capacity});
    session.feed(r.prompt);
    GenerationResult result;
    const std::string text = joined(pieces_of(session, r.options, &result));
    CHECK(result.reason == StopReason::end_token);  // also where there is no room for another token
    CHECK(result.tokens == r.first(length));
    CHECK(text == tokenizer.decode(result.tokens));
    r.check(session, result.tokens);
  }
}

TEST_CASE("session: a stop text that comes in several tokens") {
  const Random1 r;
  const std::string whole = r.tokenizer.decode(r.continuation);
  Session<> session(r.decoder, r.tokenizer, {.capacity = 40});
  session.feed(r.prompt);
  GenerationOptions options = r.options;
  options.stops = {"never to be seen", whole.substr(4, 3)};
  const std::size_t begin = whole.find(options.stops[1]);
  GenerationResult result;
  const std::string text = joined(pieces_of(session, options, &result));
  CHECK(result.reason == StopReason::stop_text);
  CHECK(text == whole.substr(0, begin));
  CHECK(result.tokens.size() >= begin + 3);  // its tokens are in the session
  CHECK(result.tokens == r.first(result.tokens.size()));
  r.check(session, result.tokens);
}

TEST_CASE("session: what could begin a stop text is delivered once it is none") {
  const Decoder<> decoder = Script().say("abcdef").decoder();
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  const auto pieces = [&](const std::string& stop, index_t max_tokens) {
    Session<> session(decoder, tokenizer);
    session.feed("a");
    GenerationOptions options = greedy(max_tokens);
    options.stops = {stop};
    return pieces_of(session, options);
  };
  CHECK(pieces("cdx", 9) == Pieces{"b", "cde", "f"});
  CHECK(pieces("cdx", 3) == Pieces{"b", "cd"});            // at the end of the generation
  CHECK(pieces("efx", 9) == Pieces{"b", "c", "d", "ef"});  // at the end of the text
  CHECK(pieces("cde", 9) == Pieces{"b"});

  Session<> session(decoder, tokenizer);
  session.feed("a");
  GenerationOptions options = greedy();
  options.stops = {"cde"};
  GenerationResult result;
  pieces_of(session, options, &result);
  CHECK(result.reason == StopReason::stop_text);
  CHECK(result.tokens == tokens_of("bcde"));
}

TEST_CASE("session: no piece ends inside a character") {
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  const Decoder<> decoder = Script().say("a\u00E9\u20AC\U0001F600!").decoder();
  Session<> session(decoder, tokenizer);
  session.feed("a");
  GenerationResult result;
  CHECK(pieces_of(session, greedy(), &result) == Pieces{"\u00E9", "\u20AC", "\U0001F600", "!"});
  CHECK(result.tokens.size() == 10);
  CHECK(result.reason == StopReason::end_token);

  // Where the text stops within one, its bytes come at the end, and all of them.
  Session<> cut(decoder, tokenizer);
  cut.feed("a");
  CHECK(pieces_of(cut, greedy(4)) == Pieces{"\u00E9", "\xE2\x82"});
  Session<> full(decoder, tokenizer, {.capacity = 5});
  full.feed("a");
  Pieces pieces;
  CHECK_THROWS_AS(full.generate(greedy(),
                                [&](std::string_view piece) {
                                  pieces.emplace_back(piece);
                                  return true;
                                }),
                  const CapacityError&);
  CHECK(pieces == Pieces{"\u00E9", "\xE2\x82"});
}

TEST_CASE("session: control tokens are no text") {
  VocabularyParts parts = byte_vocabulary();
  parts.tokens.push_back("<think>");
  parts.types.push_back(TokenType::control);
  const Tokenizer tokenizer{Vocabulary(parts)};
  const Decoder<> decoder = Script(258).follow('a', 257).follow(257, 'b').say("bc").decoder();
  Session<> session(decoder, tokenizer);
  session.feed("a");
  GenerationResult result;
  CHECK(pieces_of(session, greedy(), &result) == Pieces{"b", "c"});
  CHECK(result.tokens == Tokens{257, 'b', 'c'});
}

TEST_CASE("session: a prompt longer than the room changes nothing") {
  const Random1 r;
  Session<> session(r.decoder, r.tokenizer, {.capacity = 20});
  CHECK(complaint<CapacityError>([&] { session.feed(std::string(21, 'x')); }) ==
        "sequence 0: expected at most 20 tokens (the cache holds 0 of 20), got 21");
  CHECK(session.tokens().empty());
  session.feed(r.prompt);
  CHECK_THROWS_AS(session.feed("12345"), const CapacityError&);
  CHECK_THROWS_AS(session.feed(Tokens{1, 2, -1}), const TokenError&);
  CHECK(
      complaint<TokenError>([&] { session.feed(Tokens{1, 257}); }) ==
      "token 257 at position 1: expected 0 to 256");  // the decoder has that row, the tokenizer not
  session.feed("");
  session.feed(Tokens{});
  r.check(session, {});
}

TEST_CASE("session: options out of range are errors, and nothing has happened") {
  const Random1 r;
  Session<> session(r.decoder, r.tokenizer, {.capacity = 40});
  const auto refused = [&](auto change) {
    GenerationOptions options = r.options;
    change(options);
    return complaint<ConfigError>([&] { session.generate(options); });
  };
  CHECK(complaint<ShapeError>([&] { session.generate(r.options); }) ==
        "session: expected a prompt of one token or more before generating");
  session.feed(r.prompt);
  CHECK(refused([](auto& o) { o.max_tokens = -1; }) == "max_tokens = -1: expected 0 or more");
  CHECK(refused([](auto& o) { o.penalty_window = -2; }) ==
        "penalty_window = -2: expected 0 or more");
  CHECK(refused([](auto& o) { o.stops = {"a", ""}; }) ==
        "stop = \"\": expected a text of one byte or more");
  CHECK(refused([](auto& o) { o.sampling.temperature = -1; }).find("temperature = -1") == 0);
  CHECK(refused([](auto& o) { o.sampling.top_p = 2; }).find("top_p = 2") == 0);
  CHECK(refused([](auto&) {}) == "nothing");
  r.check(session, r.continuation);
}

TEST_CASE("session: logits that cannot be sampled are an error, and what was said stays") {
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  const Decoder<> decoder = Script().say("abcd").fail_behind('c').decoder();
  Session<> session(decoder, tokenizer);
  session.feed("a");
  std::string text;
  CHECK_THROWS_AS(session.generate(greedy(),
                                   [&](std::string_view piece) {
                                     text += piece;
                                     return true;
                                   }),
                  const NumericError&);
  CHECK(text == "bc");
  CHECK(tokens_of(session) == tokens_of("abc"));
  CHECK(session.capacity() - session.room() == 3);
  session.feed("b");  // it can go on elsewhere
  CHECK(session.generate(greedy(1)).tokens == tokens_of("c"));
}

TEST_CASE("session: one seed, one text") {
  const Random1 r;
  const auto run = [&](std::uint64_t seed, double temperature) {
    Session<> session(r.decoder, r.tokenizer, {.capacity = 40});
    session.feed(r.prompt);
    GenerationOptions options = r.options;
    options.seed = seed;
    options.sampling.temperature = temperature;
    return session.generate(options).tokens;
  };
  CHECK(run(7, 1.5) == r.continuation);
  CHECK(run(7, 1.5) == run(7, 1.5));
  CHECK(run(8, 1.5) != run(7, 1.5));
  CHECK(run(8, 0) == run(7, 0));
}

TEST_CASE("session: the repetition penalty looks back as far as it is told") {
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  // a says a, rather than b; b says a.
  const Decoder<> decoder =
      Script().follow('a', 'a', 1).follow('a', 'b', 0.9f).follow('b', 'a').decoder();
  const auto said = [&](index_t window) {
    Session<> session(decoder, tokenizer);
    session.feed("ca");
    GenerationOptions options = greedy(4);
    options.sampling.repetition_penalty = 1.5;
    options.penalty_window = window;
    return tokenizer.decode(session.generate(options).tokens);
  };
  CHECK(said(0) == "aaaa");
  CHECK(said(1) == "baba");  // only what was said last
  // Behind "ca" b (a counts 1/1.5); then a again; then both are known, and a is likelier.
  CHECK(said(64) == "baaa");
}

TEST_CASE("session: rows of the decoder without a token are never said") {
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  Script script(300);
  script.say("ab");
  for (token_t row = 257; row < 300; ++row) script.follow('a', row, 5);
  const Decoder<> decoder = script.decoder();
  Session<> session(decoder, tokenizer);
  session.feed("a");
  CHECK(session.logits().size() == 257);
  CHECK(session.generate(greedy()).tokens == tokens_of("b"));
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    session.truncate(1);
    const GenerationResult result = session.generate({.max_tokens = 1, .seed = seed});
    for (const token_t token : result.tokens) CHECK(token < 257);
  }
}

TEST_CASE("session: what does not fit together is an error") {
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  const Decoder<> small = Script(256).decoder(), decoder = Script().say("ab").decoder();
  CHECK(complaint<ConfigError>([&] { Session<> session(small, tokenizer); }) ==
        "tokenizer = 257 tokens: expected at most the decoder's 256");
  CHECK_THROWS_AS(Session<>(decoder, tokenizer, {.capacity = -1}), const ShapeError&);
  CHECK_THROWS_AS(Session<>(decoder, tokenizer, {.chunk = 0}), const ShapeError&);
  CHECK(Session<>(decoder, tokenizer).capacity() == 64);  // the model's context
}

TEST_CASE("session: room beyond the model's context is asked for by name") {
  const Tokenizer tokenizer{Vocabulary(byte_vocabulary())};
  const Decoder<> decoder = Script().say("ab").decoder();
  CHECK(Session<>(decoder, tokenizer, {.capacity = 64}).capacity() == 64);
  CHECK(complaint<ConfigError>([&] { Session<>(decoder, tokenizer, {.capacity = 65}); }) ==
        "capacity = 65: expected at most the model's context, 64, unless beyond_context is set");
  CHECK(Session<>(decoder, tokenizer, {.capacity = 65, .beyond_context = true}).capacity() == 65);
}

// What ends with the statement would be looked at afterwards.
static_assert(std::is_constructible_v<Session<>, const Decoder<>&, const Tokenizer&>);
static_assert(!std::is_constructible_v<Session<>, Decoder<>, const Tokenizer&>);
static_assert(!std::is_constructible_v<Session<>, const Decoder<>&, Tokenizer>);
static_assert(!std::is_constructible_v<Session<>, Decoder<>, Tokenizer, SessionOptions>);

TEST_CASE("session: a dialogue's next turn is taken whole, or not at all") {
  VocabularyParts parts = byte_vocabulary();
  for (const char* name : {"<|im_start|>", "<|im_end|>"}) {
    parts.tokens.emplace_back(name);
    parts.types.push_back(TokenType::control);
  }
  parts.chat_template = "<|im_start|>";
  const Tokenizer tokenizer{Vocabulary(parts)};
  const Decoder<> decoder = random_decoder();
  const ChatMl chat(tokenizer);
  Session<> session(decoder, tokenizer, {.capacity = 48});
  const Message first[] = {{"user", "a"}};
  session.feed(chat.encode(first));
  const Tokens before = tokens_of(session);
  const std::vector<float> logits = logits_of(session);
  CHECK_THROWS_AS(session.feed(chat.encode_next({"user", "12345678"})), const CapacityError&);
  CHECK(tokens_of(session) == before);
  CHECK(logits_of(session) == logits);
}

TEST_CASE("session: truncated, it is as if the last tokens had never been") {
  const Random1 r;
  Session<> session(r.decoder, r.tokenizer, {.capacity = 40});
  session.feed(r.prompt);
  session.generate(r.options);
  const index_t prompt = static_cast<index_t>(r.prompt.size());
  session.truncate(prompt + 12);  // nothing
  session.truncate(prompt + 5);
  CHECK_THROWS_AS(session.truncate(prompt + 6), const CapacityError&);
  CHECK_THROWS_AS(session.truncate(-1), const CapacityError&);
  r.check(session, r.first(5));

  session.truncate(0);
  CHECK(session.tokens().empty());
  CHECK(session.logits().empty());
  CHECK(session.room() == 40);
  CHECK_THROWS_AS(session.generate(r.options), const ShapeError&);
  session.feed(r.prompt);
  r.check(session, {});
}

TEST_CASE("session: the token that begins a text is fed once, in front") {
  VocabularyParts parts = byte_vocabulary();
  parts.special.begin = end_of_text;
  parts.add_begin = true;
  const Tokenizer tokenizer{Vocabulary(parts)};
  const Decoder<> decoder = Script().decoder();
  Session<> session(decoder, tokenizer);
  session.feed("a");
  session.feed("b");
  CHECK(tokens_of(session) == Tokens{end_of_text, 'a', 'b'});
}

TEST_CASE("session: statistics count what was fed and what was generated") {
  const Random1 r;
  Session<> session(r.decoder, r.tokenizer, {.capacity = 40});
  session.feed(r.prompt);
  CHECK(session.statistics().prompt.tokens == 16);
  CHECK(session.statistics().decode.tokens == 0);
  CHECK(session.statistics().decode.tokens_per_second() == 0);
  session.generate(r.options);
  CHECK(session.statistics().prompt.tokens == 16);
  CHECK(session.statistics().decode.tokens == 12);
  CHECK(session.statistics().decode.seconds > 0);
  CHECK(session.statistics().bytes_per_token == r.decoder.bytes_per_token());
}

TEST_CASE("session: a decoder whose sizes the compiler knows says the same") {
  const Random1 r;
  const Decoder<random_dims> decoder = random_decoder<random_dims>();
  Session<random_dims> session(decoder, r.tokenizer, {.capacity = 40});
  session.feed(r.prompt);
  CHECK(session.generate(r.options).tokens == r.continuation);
}
