// A session: one sequence that grows by what is fed to it and by what the model says.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/function_ref.hpp"
#include "imbrex/generation/generation_options.hpp"
#include "imbrex/generation/sampler.hpp"
#include "imbrex/generation/statistics.hpp"
#include "imbrex/generation/stop_text.hpp"
#include "imbrex/layers/embedding.hpp"
#include "imbrex/model/decoder.hpp"
#include "imbrex/tensor/buffer.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "imbrex/text/utf8_stream.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Called with each piece of text, whole characters only; false stops the generation.
using OnPiece = FunctionRef<bool(std::string_view)>;

/// The memory of a session.
struct SessionOptions {
  index_t capacity = 0;  ///< positions; 0 is the model's context, at most 4096
  index_t chunk = 256;   ///< rows of the prompt that go through at once
  /// Whether `capacity` may be more than the model's context, where what a model says gets worse.
  bool beyond_context = false;
  Dtype cache = Dtype::f32;  ///< how keys and values are kept: f32, f16 or bf16
};

/// Feeds text to a decoder and lets it continue. `decoder` and `tokenizer` must outlive it.
///
/// At any time, also after an error, the cache holds exactly `tokens()`, and the logits after the
/// last of them are known: a generated token is taken into the cache before its text is delivered.
template <Dims dims = Dims{}>
class Session {
 public:
  /// Throws ConfigError where the tokenizer has more tokens than the decoder has rows, or the
  /// capacity is more than the model's context (unless beyond_context allows it), or for another
  /// format of the cache, ShapeError for a
  /// negative capacity or a chunk below 1, CapacityError where there is no memory.
  Session(const Decoder<dims>& decoder, const Tokenizer& tokenizer, SessionOptions options = {})
      : decoder_(decoder),
        tokenizer_(tokenizer),
        workspace_(decoder, options.chunk),
        cache_(decoder.config(), capacity_of(decoder.config(), options), options.cache) {
    const index_t vocab = decoder.config().dims.vocab;
    if (vocabulary() > vocab) {
      raise(ConfigError("tokenizer", std::to_string(vocabulary()) + " tokens",
                        "at most the decoder's " + std::to_string(vocab)));
    }
    statistics_.bytes_per_token = decoder.bytes_per_token();
    tokens_ = Buffer<token_t>(cache_.capacity());
  }

  // Neither would outlive the session.
  Session(const Decoder<dims>&&, const Tokenizer&, SessionOptions = {}) = delete;
  Session(const Decoder<dims>&, const Tokenizer&&, SessionOptions = {}) = delete;
  Session(const Decoder<dims>&&, const Tokenizer&&, SessionOptions = {}) = delete;

  /// Takes tokens in. Throws CapacityError where they do not fit, TokenError where one is not the
  /// tokenizer's; nothing is taken then.
  void feed(std::span<const token_t> tokens) {
    if (tokens.empty()) return;
    check_tokens(tokens.data(), static_cast<index_t>(tokens.size()), vocabulary());
    run(tokens, statistics_.prompt);
  }

  /// Takes text in, plain: names of special tokens are text. At the start of the sequence it goes
  /// behind the token that begins one, if the vocabulary has it so.
  void feed(std::string_view text) {
    feed(cache_.length() == 0 ? tokenizer_.encode_prompt(text) : tokenizer_.encode(text));
  }

  /// Continues the sequence, and calls `on_piece` with the text as it comes. Throws CapacityError
  /// when the cache is full (all text so far is delivered first), ShapeError where nothing was fed,
  /// ConfigError for options, NumericError for logits that cannot be sampled, and what `on_piece`
  /// throws. Tokens generated before an error stay in the session.
  GenerationResult generate(const GenerationOptions& options, OnPiece on_piece = {}) {
    check(options);
    if (cache_.length() == 0) {
      raise(ShapeError("session: expected a prompt of one token or more before generating"));
    }
    Sampler sampler(options.sampling, options.seed, vocabulary());
    GenerationResult result;
    result.tokens.reserve(static_cast<std::size_t>(lesser(options.max_tokens, cache_.room())));
    Stream stream(options.stops, on_piece);
    const auto ended = [&](StopReason reason) {
      stream.finish();
      result.reason = reason;
      return std::move(result);
    };
    while (static_cast<index_t>(result.tokens.size()) < options.max_tokens) {
      const token_t token = sampler.sample(logits(), recent(options.penalty_window));
      if (tokenizer_.is_end(token)) return ended(StopReason::end_token);
      if (cache_.room() == 0) {
        stream.finish();
        fail_full();
      }
      run({&token, 1}, statistics_.decode);
      result.tokens.push_back(token);
      if (!stream.deliver(tokenizer_.piece(token))) return ended(StopReason::callback);
      if (stream.stopped()) return ended(StopReason::stop_text);
    }
    return ended(StopReason::length);
  }

  /// Forgets the last tokens, so that `count` stay. Throws CapacityError where there are fewer. The
  /// logits are those after the last one that stays: its row is computed again.
  void truncate(index_t count) {
    const index_t length = cache_.length();
    if (count < 0 || count > length) cache_.truncate(count);  // throws
    if (count == length) return;
    if (count == 0) {
      cache_.clear();
      return;
    }
    const token_t last = tokens_.data()[count - 1];
    cache_.truncate(count - 1);
    run({&last, 1}, statistics_.prompt);
  }

  /// All tokens of the sequence.
  std::span<const token_t> tokens() const {
    return {tokens_.data(), static_cast<std::size_t>(cache_.length())};
  }
  index_t room() const { return cache_.room(); }
  index_t capacity() const { return cache_.capacity(); }
  const SessionStatistics& statistics() const { return statistics_; }

  /// The logits after the last token, for the tokens of the tokenizer: rows of the embedding past
  /// them (padding) are no tokens. Empty where there is no token. Valid until the session goes on.
  std::span<const float> logits() {
    if (cache_.length() == 0) return {};
    return {workspace_.logits(), static_cast<std::size_t>(vocabulary())};
  }

 private:
  /// From pieces of tokens to the caller: whole characters, up to a stop text.
  class Stream {
   public:
    Stream(const std::vector<std::string>& stops, OnPiece on_piece)
        : stop_(stops), on_piece_(on_piece) {}

    bool deliver(std::string_view piece) { return pass(stop_.feed(characters_.feed(piece))); }
    void finish() {
      if (!pass(stop_.feed(characters_.flush()))) return;
      pass(stop_.flush());
    }
    bool stopped() const { return stop_.found(); }

   private:
    /// After the caller has said stop nothing more is delivered.
    bool pass(std::string_view text) {
      if (!text.empty() && on_piece_ && going_) going_ = on_piece_(text);
      return going_;
    }

    Utf8Stream characters_;
    StopText stop_;
    OnPiece on_piece_;
    bool going_ = true;
  };

  static index_t capacity_of(const Config& config, const SessionOptions& options) {
    if (options.capacity == 0) return lesser(config.context, 4096);
    if (options.capacity > config.context && !options.beyond_context) {
      raise(ConfigError("capacity", std::to_string(options.capacity),
                        "at most the model's context, " + std::to_string(config.context) +
                            ", unless beyond_context is set"));
    }
    return options.capacity;
  }

  index_t vocabulary() const { return static_cast<index_t>(tokenizer_.vocabulary().size()); }

  std::span<const token_t> recent(index_t window) const {
    return tokens().last(static_cast<std::size_t>(lesser(window, cache_.length())));
  }

  void run(std::span<const token_t> tokens, RunStatistics& statistics) {
    const auto start = std::chrono::steady_clock::now();
    const index_t before = cache_.length();
    decoder_.last_logits(workspace_, cache_, tokens);
    std::copy(tokens.begin(), tokens.end(), tokens_.data() + before);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    statistics.tokens += static_cast<index_t>(tokens.size());
    statistics.seconds += taken.count();
  }

  [[noreturn, gnu::cold]] void fail_full() const {
    raise(CapacityError("session: it is full: it has room for " +
                        std::to_string(cache_.capacity()) + " tokens"));
  }

  const Decoder<dims>& decoder_;
  const Tokenizer& tokenizer_;
  Workspace workspace_;
  KvCache cache_;
  Buffer<token_t> tokens_;  // as many as the cache is long
  SessionStatistics statistics_;
};

}  // namespace imbrex::inline IMBREX_ABI
