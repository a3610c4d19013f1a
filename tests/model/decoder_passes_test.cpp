// How a decoder's results do not depend on the way there: threads, chunks, caches, company; and
// what is refused, with everything as it was before.
#include <doctest/doctest.h>

#include <limits>
#include <thread>

#include "imbrex/model/decoder.hpp"
#include "imbrex/tensor/print.hpp"
#include "tests/model/tiny_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

Decoder<> tiny(const std::string& name) { return load(tiny_path(name + ".gguf")); }

Tokens part(const Tokens& tokens, index_t first, index_t count) {
  return Tokens(tokens.begin() + first, tokens.begin() + first + count);
}

/// Logits after each token, going through in passes of `step` tokens with a workspace of `rows`.
std::vector<float> in_passes(const Decoder<>& decoder, const Tokens& tokens, index_t step,
                             index_t rows) {
  Workspace workspace(decoder, rows);
  const index_t count = static_cast<index_t>(tokens.size());
  KvCache cache(decoder.config(), count);
  std::vector<float> logits;
  for (index_t first = 0; first < count; first += step) {
    const Tokens now = part(tokens, first, lesser(step, count - first));
    const std::vector<float> more = numbers(decoder.all_logits(workspace, cache, now));
    logits.insert(logits.end(), more.begin(), more.end());
  }
  return logits;
}

/// All keys and values that a cache holds.
std::vector<float> contents(KvCache& cache) {
  std::vector<float> all;
  for (index_t layer = 0; layer < cache.layers(); ++layer) {
    for (const auto& view :
         {cache.keys(layer, cache.length()), cache.values(layer, cache.length())}) {
      for (index_t h = 0; h < view.size(0); ++h) {
        for (index_t j = 0; j < view.size(1); ++j) {
          for (index_t i = 0; i < view.size(2); ++i) all.push_back(view(h, j, i));
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("passes: the same bits for any number of threads") {
  const Wider model;
  const Tokens tokens = random_tokens(70, 700, 1);
  const auto compute = [&](int threads) {
    const WithThreads set(threads);
    std::vector<float> all = logits_of(model.decoder, tokens, 64);
    const std::vector<float> slowly = in_passes(model.decoder, part(tokens, 0, 12), 1, 1);
    all.insert(all.end(), slowly.begin(), slowly.end());
    return all;
  };
  const std::vector<float> one = compute(1);
  for (const int threads : {2, 3, 8}) {
    CAPTURE(threads);
    CHECK(different_bits(compute(threads), one) == "");
  }
}

TEST_CASE("passes: a prompt at once, in chunks, in passes, token by token") {
  for (const char* name : {"f32", "mixed", "kquant", "wide"}) {
    CAPTURE(name);
    const Decoder<> decoder = tiny(name);
    const Tokens tokens = tiny_golden(name).tokens;
    const double tolerance = logits_tolerance(decoder.config().dims);
    const std::vector<float> at_once = in_passes(decoder, tokens, 24, 24);
    for (const index_t n : {1, 3, 7}) {
      CAPTURE(n);
      const std::vector<float> chunks = in_passes(decoder, tokens, 24, n);
      CHECK(worst_row(chunks, at_once, 320, tolerance) == "");
      // A pass of n tokens is a chunk of n tokens.
      CHECK(different_bits(in_passes(decoder, tokens, n, n), chunks) == "");
      CHECK(different_bits(in_passes(decoder, tokens, n, 64), chunks) == "");
    }
  }
}

TEST_CASE("passes: the last logits are the last row of all of them") {
  const Decoder<> decoder = tiny("mixed");
  const Tokens tokens = tiny_golden("mixed").tokens;
  for (const index_t rows : {1, 5, 24, 100}) {
    CAPTURE(rows);
    const std::vector<float> all = logits_of(decoder, tokens, rows);
    Workspace workspace(decoder, rows);
    KvCache cache(decoder.config(), 24);
    const std::vector<float> last = numbers(decoder.last_logits(workspace, cache, tokens));
    // The head sees one row instead of many: another order of the same sums.
    const std::vector<float> row(all.end() - 320, all.end());
    CHECK(worst_row(last, row, 320, logits_tolerance(decoder.config().dims)) == "");
    if (rows <= kernels::gemv_most_rows) CHECK(different_bits(last, row) == "");
  }
}

TEST_CASE("passes: a prompt and one more token are a prompt with that token") {
  for (const char* name : {"f32", "kquant", "wide"}) {
    CAPTURE(name);
    const Decoder<> decoder = tiny(name);
    const Tokens tokens = tiny_golden(name).tokens;
    Workspace workspace(decoder);
    for (index_t n = 1; n < 24; ++n) {
      KvCache cache(decoder.config(), 24), longer(decoder.config(), 24);
      decoder.last_logits(workspace, cache, part(tokens, 0, n));
      const std::vector<float> decoded =
          numbers(decoder.last_logits(workspace, cache, part(tokens, n, 1)));
      const std::vector<float> prefilled =
          numbers(decoder.last_logits(workspace, longer, part(tokens, 0, n + 1)));
      CHECK(worst_row(decoded, prefilled, 320, logits_tolerance(decoder.config().dims)) == "");
      CHECK(cache.length() == n + 1);
    }
  }
}

TEST_CASE("passes: decoder(ids) is all logits of whole sequences") {
  const Decoder<> decoder = tiny("mixed");
  const Tokens tokens = tiny_golden("mixed").tokens;
  Tensor<token_t, Batch<>, Time<>> ids{Batch<>(3), Time<>(8)};
  for (index_t i = 0; i < 24; ++i) ids.data()[i] = tokens[static_cast<std::size_t>(i)];
  const auto logits = decoder(ids);
  for (index_t b = 0; b < 3; ++b) {
    const std::vector<float> row(&logits(b, 0, 0), &logits(b, 0, 0) + 8 * 320);
    CHECK(different_bits(row, logits_of(decoder, part(tokens, 8 * b, 8))) == "");
  }
  Tensor<token_t, Time<>> none{Time<>(0)};
  CHECK(decoder(none).count() == 0);
  ids(2, 3) = 320;
  CHECK_THROWS_WITH_AS(decoder(ids), "token 320 at position 3: expected 0 to 319", TokenError);
}

TEST_CASE("batches: one token each of up to four sequences has the bits it has alone") {
  const Decoder<> decoder = tiny("mixed");
  Workspace workspace(decoder, 32);
  for (const std::size_t batch : {std::size_t{2}, std::size_t{4}}) {
    std::vector<KvCache> caches, twins;
    for (std::size_t i = 0; i < batch; ++i) {
      const Tokens prompt = random_tokens(static_cast<index_t>(3 + 5 * i), 320, i);
      for (auto* list : {&caches, &twins}) {
        list->emplace_back(decoder.config(), 64);
        decoder.last_logits(workspace, list->back(), prompt);
      }
    }
    for (token_t step = 0; step < 5; ++step) {
      Tokens next;
      std::vector<SequenceInput> inputs;
      for (std::size_t i = 0; i < batch; ++i) next.push_back(17 * step + static_cast<token_t>(i));
      for (std::size_t i = 0; i < batch; ++i) inputs.push_back({{&next[i], 1}, &caches[i]});
      const std::vector<float> together = numbers(decoder.last_logits(workspace, inputs));
      std::vector<float> alone;
      for (std::size_t i = 0; i < batch; ++i) {
        const std::vector<float> row =
            numbers(decoder.last_logits(workspace, twins[i], Tokens{next[i]}));
        alone.insert(alone.end(), row.begin(), row.end());
      }
      CHECK(different_bits(together, alone) == "");
    }
  }
}

TEST_CASE("batches: sequences of different lengths, over the borders of chunks") {
  for (const char* name : {"mixed", "kquant", "wide"}) {
    CAPTURE(name);
    const Decoder<> decoder = tiny(name);
    const double tolerance = logits_tolerance(decoder.config().dims);
    const index_t lengths[] = {1, 9, 2, 24, 5, 1, 7};
    std::vector<Tokens> prompts;
    std::vector<float> alone_last, alone_all;
    for (const index_t n : lengths) {
      prompts.push_back(random_tokens(n, 320, static_cast<std::uint64_t>(n)));
      const std::vector<float> all = logits_of(decoder, prompts.back());
      alone_all.insert(alone_all.end(), all.begin(), all.end());
      alone_last.insert(alone_last.end(), all.end() - 320, all.end());
    }
    for (const index_t rows : {1, 3, 4, 10, 49, 64}) {
      CAPTURE(rows);
      Workspace workspace(decoder, rows);
      for (const bool all : {false, true}) {
        std::vector<KvCache> caches;
        std::vector<SequenceInput> inputs;
        for (const index_t n : lengths) caches.emplace_back(decoder.config(), n);
        for (std::size_t i = 0; i < caches.size(); ++i) inputs.push_back({prompts[i], &caches[i]});
        if (all) {
          CHECK(worst_row(numbers(decoder.all_logits(workspace, inputs)), alone_all, 320,
                          tolerance) == "");
        } else {
          const auto logits = decoder.last_logits(workspace, inputs);
          CHECK(shape_text(logits) == "[Batch=7, Vocab=320]");
          CHECK(worst_row(numbers(logits), alone_last, 320, tolerance) == "");
        }
        for (const KvCache& cache : caches) CHECK(cache.room() == 0);
      }
    }
  }
}

TEST_CASE("batches: some go on while others begin") {
  const Decoder<> decoder = tiny("f32");
  const Tokens a = random_tokens(20, 320, 1), b = random_tokens(11, 320, 2);
  Workspace workspace(decoder, 6);
  KvCache first(decoder.config(), 32), second(decoder.config(), 32);
  decoder.last_logits(workspace, first, part(a, 0, 19));
  const Tokens last = part(a, 19, 1);
  const SequenceInput inputs[] = {{last, &first}, {b, &second}};
  const std::vector<float> got = numbers(decoder.last_logits(workspace, inputs));
  std::vector<float> want = logits_of(decoder, a);
  want.erase(want.begin(), want.end() - 320);
  const std::vector<float> other = logits_of(decoder, b);
  want.insert(want.end(), other.end() - 320, other.end());
  CHECK(worst_row(got, want, 320, logits_tolerance(decoder.config().dims)) == "");
}

TEST_CASE("batches: no sequences are no logits") {
  const Decoder<> decoder = tiny("f32");
  Workspace workspace(decoder);
  CHECK(decoder.last_logits(workspace, std::span<const SequenceInput>()).count() == 0);
  CHECK(decoder.all_logits(workspace, std::span<const SequenceInput>()).count() == 0);
}

TEST_CASE("a const decoder serves four threads at once") {
  const Decoder<> decoder = tiny("mixed");
  const WithThreads set(2);
  std::vector<std::vector<float>> alone(4), together(4);
  const auto work = [&](std::size_t i) {
    const Tokens tokens = random_tokens(static_cast<index_t>(10 + i), 320, i);
    std::vector<float> logits = logits_of(decoder, tokens, 5);
    const std::vector<float> slowly = in_passes(decoder, tokens, 1, 1);
    logits.insert(logits.end(), slowly.begin(), slowly.end());
    return logits;
  };
  for (std::size_t i = 0; i < 4; ++i) alone[i] = work(i);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { together[i] = work(i); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < 4; ++i) CHECK(different_bits(together[i], alone[i]) == "");
}

TEST_CASE("a moved decoder is the same decoder") {
  Decoder<> decoder = tiny("wide");
  const Tokens tokens = {1, 2, 3};
  const std::vector<float> before = logits_of(decoder, tokens);
  Workspace workspace(decoder, 8);
  KvCache cache(decoder.config(), 8);
  const Decoder<> moved = std::move(decoder);
  CHECK(different_bits(numbers(moved.all_logits(workspace, cache, tokens)), before) == "");
}

TEST_CASE("refused: the right error, and everything as it was") {
  const Decoder<> decoder = tiny("mixed"), other = tiny("wide"), third = tiny("kquant");
  const Tokens prompt = {5, 6, 7, 8, 9}, next = {3, 2, 1};
  constexpr token_t most = std::numeric_limits<token_t>::max();
  // Every attempt is made on its own cache and workspace, which must then go on as a twin does to
  // which nothing has happened.
  const auto attempt = [&](const auto& call) {
    Workspace workspace(decoder, 4, 2), twin_workspace(decoder, 4, 2);
    KvCache cache(decoder.config(), 8), twin(decoder.config(), 8);
    decoder.last_logits(workspace, cache, prompt);
    decoder.last_logits(twin_workspace, twin, prompt);
    const std::string said = complaint([&] { call(workspace, cache); });
    CHECK(cache.length() == 5);
    CHECK(different_bits(contents(cache), contents(twin)) == "");
    CHECK(workspace.bytes() == twin_workspace.bytes());
    CHECK(different_bits(numbers(decoder.all_logits(workspace, cache, next)),
                         numbers(decoder.all_logits(twin_workspace, twin, next))) == "");
    CHECK(cache.room() == 0);
    return said;
  };
  const auto tokens = [&](const Tokens& list) {
    return attempt([&](Workspace& w, KvCache& c) { decoder.last_logits(w, c, list); });
  };
  CHECK(attempt([](Workspace&, KvCache&) {}) == "nothing");
  CHECK(tokens({}) == "sequence 0: expected 1 token or more, got none");
  CHECK(tokens({1, -1}) == "token -1 at position 1: expected 0 to 319");
  CHECK(tokens({320}) == "token 320 at position 0: expected 0 to 319");
  CHECK(tokens({1, 2, most}) == "token 2147483647 at position 2: expected 0 to 319");
  CHECK(tokens({1, 2, 3, 4}) ==
        "sequence 0: expected at most 3 tokens (the cache holds 5 of 8), got 4");

  CHECK(attempt([&](Workspace& w, KvCache& c) {
          const SequenceInput inputs[] = {{next, &c}, {next, &c}};
          decoder.last_logits(w, inputs);
        }) == "sequences 0 and 1: each must have a cache of its own");
  CHECK(attempt([&](Workspace& w, KvCache& c) {
          const SequenceInput inputs[] = {{next, &c}, {next, nullptr}};
          decoder.all_logits(w, inputs);
        }) == "sequence 1: no cache");
  KvCache full(decoder.config(), 2);
  CHECK(attempt([&](Workspace& w, KvCache& c) {
          const SequenceInput inputs[] = {{next, &c}, {next, &full}};
          decoder.all_logits(w, inputs);
        }) == "sequence 1: expected at most 2 tokens (the cache holds 0 of 2), got 3");
  KvCache foreign(other.config(), 8);
  CHECK(attempt([&](Workspace& w, KvCache& c) {
          const SequenceInput inputs[] = {{next, &c}, {next, &foreign}};
          decoder.all_logits(w, inputs);
        }) ==
        "forward: the cache must have been made for a decoder of the same sizes: "
        "cache[Layers=2, KvHeads=1, HeadDim=32], decoder[Layers=2, KvHeads=2, HeadDim=16]");
  CHECK(foreign.length() == 0);
  CHECK(attempt([&](Workspace&, KvCache& c) {
          Workspace elsewhere(other, 4);
          decoder.last_logits(elsewhere, c, next);
        }) ==
        "forward: the workspace must have been made for a decoder of the same sizes: "
        "workspace[layers=2, vocab=320, model=96, heads=4, kv_heads=1, head_dim=32, hidden=160], "
        "decoder[layers=2, vocab=320, model=64, heads=4, kv_heads=2, head_dim=16, hidden=96]");
  // The cache of another decoder that is the same size is nothing that can be told.
  CHECK(attempt([&](Workspace& w, KvCache&) {
          KvCache same(tiny("f32").config(), 8);
          decoder.last_logits(w, same, next);
        }) == "nothing");
}

TEST_CASE("refused: a cache and a workspace that were moved from, until they are given new ones") {
  const Decoder<> decoder = tiny("f32");
  const Tokens tokens = {1, 2, 3};
  Workspace workspace(decoder, 4, 2);
  KvCache cache(decoder.config(), 8);
  decoder.last_logits(workspace, cache, tokens);
  // By the constructor and by assignment; from where there was something, and to where there was.
  KvCache moved(std::move(cache)), target(decoder.config(), 5);
  target = std::move(moved);
  CHECK(target.length() == 3);
  for (KvCache* left : {&cache, &moved}) {
    CHECK(left->capacity() == 0);
    CHECK(left->room() == 0);
    CHECK(left->length() == 0);
    CHECK(left->bytes() == 0);
    CHECK_THROWS_AS(left->keys(0, 0), ShapeError);
    CHECK_THROWS_AS(left->append(1), CapacityError);
    CHECK(complaint<ShapeError>([&] { decoder.last_logits(workspace, *left, tokens); }) ==
          "forward: the cache must have been made for a decoder of the same sizes: "
          "cache[Layers=0, KvHeads=0, HeadDim=0], decoder[Layers=2, KvHeads=2, HeadDim=16]");
  }
  Workspace other(std::move(workspace)), last(decoder, 1);
  last = std::move(other);
  CHECK(last.rows() == 4);
  for (Workspace* left : {&workspace, &other}) {
    CHECK(left->rows() == 0);
    CHECK(left->bytes() == 0);
    CHECK(complaint<ShapeError>([&] { decoder.last_logits(*left, target, tokens); })
              .starts_with("forward: the workspace must have been made for a decoder of the same "
                           "sizes: workspace[layers=0, vocab=0, "));
  }
  const std::vector<float> after = numbers(decoder.all_logits(last, target, tokens));
  workspace = Workspace(decoder, 4, 2);
  cache = KvCache(decoder.config(), 8);
  decoder.last_logits(workspace, cache, tokens);
  CHECK(different_bits(numbers(decoder.all_logits(workspace, cache, tokens)), after) == "");
}

TEST_CASE("refused: a type for each kind of error") {
  const Decoder<> decoder = tiny("f32"), other = tiny("wide");
  Workspace workspace(decoder, 4);
  KvCache cache(decoder.config(), 2), foreign(other.config(), 2);
  CHECK_THROWS_AS(decoder.last_logits(workspace, cache, Tokens{}), ShapeError);
  CHECK_THROWS_AS(decoder.last_logits(workspace, cache, Tokens{-1}), TokenError);
  CHECK_THROWS_AS(decoder.last_logits(workspace, cache, Tokens{1, 2, 3}), CapacityError);
  CHECK_THROWS_AS(decoder.last_logits(workspace, foreign, Tokens{1}), ShapeError);
  CHECK_THROWS_AS(other.last_logits(workspace, foreign, Tokens{1}), ShapeError);
  // Exactly as many as there is room for.
  CHECK_NOTHROW(decoder.last_logits(workspace, cache, Tokens{1, 2}));
  CHECK_THROWS_AS(decoder.last_logits(workspace, cache, Tokens{1}), CapacityError);
  KvCache empty(decoder.config(), 0);
  CHECK_THROWS_AS(decoder.last_logits(workspace, empty, Tokens{1}), CapacityError);
}

TEST_CASE("a cache cut back goes on as if the rest had never been there") {
  const Decoder<> decoder = tiny("wide");
  const Tokens tokens = tiny_golden("wide").tokens, others = random_tokens(10, 320, 9);
  Workspace workspace(decoder, 64);
  KvCache cache(decoder.config(), 24), twin(decoder.config(), 24);
  decoder.last_logits(workspace, cache, part(tokens, 0, 10));
  decoder.last_logits(workspace, twin, part(tokens, 0, 10));
  decoder.last_logits(workspace, cache, others);
  cache.truncate(10);
  CHECK(different_bits(numbers(decoder.all_logits(workspace, cache, part(tokens, 10, 14))),
                       numbers(decoder.all_logits(workspace, twin, part(tokens, 10, 14)))) == "");
  cache.clear();
  CHECK(different_bits(numbers(decoder.all_logits(workspace, cache, tokens)),
                       logits_of(decoder, tokens)) == "");
}

TEST_CASE("passes: a cache in 16 bits keeps rounded keys and values, and results stay near") {
  const Decoder<> decoder = tiny("f32");
  const Dims& dims = decoder.config().dims;
  const Tokens tokens = random_tokens(40, dims.vocab, 11);
  const auto run = [&](KvCache& cache) {
    Workspace workspace(decoder, 16, 40);
    std::vector<float> logits = numbers(decoder.all_logits(workspace, cache, part(tokens, 0, 33)));
    for (index_t i = 33; i < 40; ++i) {  // then one by one
      const auto more = numbers(decoder.all_logits(workspace, cache, part(tokens, i, 1)));
      logits.insert(logits.end(), more.begin(), more.end());
    }
    return logits;
  };
  KvCache exact(decoder.config(), 40);
  const std::vector<float> want = run(exact);
  float largest = 0;
  for (const float x : want) largest = std::fmax(largest, std::fabs(x));
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    KvCache cache(decoder.config(), 40, dtype);
    const std::vector<float> got = run(cache);
    // What the first layer caches does not depend on the cache.
    for (index_t at = 0; at < dims.kv_heads * 40 * dims.head_dim; ++at) {
      const index_t h = at / (40 * dims.head_dim), j = at / dims.head_dim % 40,
                    i = at % dims.head_dim;
      const float key = exact.keys(0, 40)(h, j, i), value = exact.values(0, 40)(h, j, i);
      const bool half = dtype == Dtype::f16;
      CHECK(cache.cached_keys(0, 40)(h, j, i) ==
            (half ? to_float(to_f16(key)) : to_float(to_bf16(key))));
      CHECK(cache.cached_values(0, 40)(h, j, i) ==
            (half ? to_float(to_f16(value)) : to_float(to_bf16(value))));
    }
    // A rounding is 2^-11 or 2^-8 of a number at most. Each of the layers rounds keys and values,
    // and weights change by twice what scores do.
    const double unit = dtype == Dtype::f16 ? 0x1p-11 : 0x1p-8;
    const double allowed = 4 * static_cast<double>(dims.layers) * unit * double{largest};
    CHECK(worst_difference(got, want, allowed) == "");
    CHECK(different_bits(got, want) != "");
    for (const int threads : {1, 3}) {
      const WithThreads with(threads);
      KvCache again(decoder.config(), 40, dtype);
      CHECK(different_bits(run(again), got) == "");
    }
  }
}
