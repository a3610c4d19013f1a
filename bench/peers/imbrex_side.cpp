// imbrex's side of the comparison with its peers; run.py asks. A line of words in, a line of JSON
// out.
//
//   imbrex_side write SHAPE FORMAT FILE     writes a model file (shapes.hpp)
//   imbrex_side serve FILE                  answers requests about the model in a file
//   imbrex_side limits                      answers requests about the machine
//   imbrex_side products                    answers requests for products of f32 matrices
//   imbrex_side first FILE N                the first token behind a prompt of N, and the same
//   again
//
// Token i of every prompt is (7919 i + 13) mod Vocab. Times are of the forward pass alone: what
// reads the request, or chooses a token, is not in them; llama_side.py does the same.
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>

#include "bench/amx_peak.hpp"
#include "bench/peers/shapes.hpp"
#include "bench/peers/worker.hpp"
#include "examples/machine_limits.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/model/ledger.hpp"

#if __has_include("imbrex/base/arithmetic.hpp")
#include "imbrex/base/arithmetic.hpp"
#endif

using namespace imbrex;
using namespace peers;

namespace {

std::vector<token_t> prompt(index_t count, index_t vocab) {
  std::vector<token_t> tokens;
  for (index_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<token_t>((7919 * i + 13) % vocab));
  }
  return tokens;
}

std::string arithmetic_name() {
#if __has_include("imbrex/base/arithmetic.hpp")
  return name(active_arithmetic());
#else
  return "f32";
#endif
}

/// A model, and one sequence that grows.
class Served {
 public:
  explicit Served(const std::string& path)
      : decoder_(load(path)), vocab_(decoder_.config().dims.vocab), workspace_(decoder_, 512) {}

  Answer hello() const {
    const Config& config = decoder_.config();
    return Answer()
        .add("side", std::string("imbrex"))
        .add("isa", name(active_isa()))
        .add("arithmetic", arithmetic_name())
        .add("threads", threads())
        .add("vocab", static_cast<double>(vocab_))
        .add("layers", static_cast<double>(config.dims.layers))
        .add("bytes_per_token", static_cast<double>(decoder_.bytes_per_token()))
        .add("flops_per_token", forward_flops(config, {1, 128, 1}).total);
  }

  Answer operator()(const std::string& request, Words& words) {
    if (request == "hello") return hello();
    if (request == "threads") {
      set_threads(static_cast<int>(words.number()));
      return Answer().add("threads", threads());
    }
    if (request == "prompt") return time_prompt(words.number());
    if (request == "flops") {
      return Answer().add("flops", forward_flops(decoder_.config(), {words.number(), 0, 1}).total);
    }
    if (request == "decode") {
      const index_t before = words.number();
      return time_decode(before, words.number());
    }
    if (request == "batch") {
      const index_t count = words.number(), before = words.number();
      return time_batch(count, before, words.number());
    }
    if (request == "logits") {
      const index_t count = words.number();
      return write_logits(count, words.text());
    }
    if (request == "greedy") {
      const index_t before = words.number();
      return greedy(before, words.number());
    }
    raise(Error("no such request: " + printable(request)));
  }

  double first_token(index_t count) {
    return seconds([&] { feed(count); });
  }

 private:
  /// The prompt's first `count` tokens, in an empty cache.
  const float* feed(index_t count) {
    reserve(count + 256);
    cache_->clear();
    return decoder_.last_logits(workspace_, *cache_, prompt(count, vocab_)).data();
  }

  void reserve(index_t positions) {
    if (cache_ && cache_->capacity() >= positions) return;
    cache_ = std::make_unique<KvCache>(decoder_.config(), positions);
  }

  Answer time_prompt(index_t count) {
    const std::vector<token_t> tokens = prompt(count, vocab_);
    reserve(count + 256);
    cache_->clear();
    const double time = seconds([&] { decoder_.last_logits(workspace_, *cache_, tokens); });
    return Answer().add("seconds", time);
  }

  Answer time_decode(index_t before, index_t count) {
    const std::vector<token_t> tokens = prompt(before + count, vocab_);
    reserve(before + count);
    if (cache_->length() < before) feed(before);
    cache_->truncate(before);
    double time = 0;
    for (index_t i = before; i < before + count; ++i) {
      const std::span<const token_t> next(&tokens[static_cast<std::size_t>(i)], 1);
      time += seconds([&] { decoder_.last_logits(workspace_, *cache_, next); });
    }
    return Answer().add("seconds", time / static_cast<double>(count));
  }

  /// One more token of each of `count` sequences at once, `steps` times.
  Answer time_batch(index_t count, index_t before, index_t steps) {
    const std::vector<token_t> tokens = prompt(before + steps + count, vocab_);
    std::vector<KvCache> caches;
    std::vector<SequenceInput> inputs(static_cast<std::size_t>(count));
    for (index_t s = 0; s < count; ++s) {
      caches.emplace_back(decoder_.config(), before + steps);
      decoder_.last_logits(
          workspace_, caches.back(),
          std::span(tokens).subspan(static_cast<std::size_t>(s), static_cast<std::size_t>(before)));
    }
    Workspace workspace(decoder_, greater(count, 16), count);
    double time = 0;
    for (index_t i = 0; i < steps; ++i) {
      for (index_t s = 0; s < count; ++s) {
        inputs[static_cast<std::size_t>(s)] = {{&tokens[static_cast<std::size_t>(before + i)], 1},
                                               &caches[static_cast<std::size_t>(s)]};
      }
      time += seconds([&] { decoder_.last_logits(workspace, inputs); });
    }
    return Answer().add("seconds", time / static_cast<double>(steps));
  }

  Answer write_logits(index_t count, const std::string& path) {
    const float* logits = feed(count);
    FileReplacement file(path);
    file.write(std::as_bytes(std::span(logits, static_cast<std::size_t>(vocab_))));
    file.commit();
    return Answer().add("count", static_cast<double>(vocab_));
  }

  Answer greedy(index_t before, index_t count) {
    std::vector<double> taken;
    const float* logits = feed(before);
    for (index_t i = 0; i < count; ++i) {
      const token_t best = static_cast<token_t>(std::max_element(logits, logits + vocab_) - logits);
      taken.push_back(static_cast<double>(best));
      logits = decoder_.last_logits(workspace_, *cache_, std::span(&best, 1)).data();
    }
    return Answer().add("tokens", taken);
  }

  Decoder<> decoder_;
  index_t vocab_;
  Workspace workspace_;
  std::unique_ptr<KvCache> cache_;
};

/// Rates of the machine, with all threads: bytes read, FLOP of an instruction set, and of AMX.
Answer limits(const std::string& request, Words& words) {
  if (request == "threads") {
    set_threads(static_cast<int>(words.number()));
    return Answer().add("threads", threads());
  }
  if (request == "read") {  // far more than the last cache holds
    return Answer().add("rate", examples::measure_read_bandwidth(words.number() << 20, 5));
  }
  if (request == "fma") {
    const std::string wanted = words.text();
    for (int i = 0; i < isa_count; ++i) {
      const Isa isa = static_cast<Isa>(i);
      if (wanted != name(isa) || !available(isa)) continue;
      use_isa(isa);
      return Answer().add("rate", examples::measure_fma_peak());
    }
    return Answer().add("missing", "this machine has no " + wanted);
  }
  if (request == "amx") {
    if (!bench::amx::available()) return Answer().add("missing", std::string("no AMX"));
    constexpr index_t rounds = 100'000;
    const index_t team = threads();
    std::atomic<bool> right = true;
    const double time = examples::fastest(20, [&] {
      parallel_for(team, [&](index_t) {
        if (!bench::amx::run(rounds)) right = false;
      });
    });
    if (!right) raise(Error("AMX: the sums of products of ones are wrong"));
    return Answer().add("rate",
                        bench::amx::round_flops * static_cast<double>(rounds * team) / time);
  }
  raise(Error("no such request: " + printable(request)));
}

/// y = x W^T, x [rows, inputs], W [outputs, inputs]; four matrices W in turn, as a model's are
/// cold.
class Products {
 public:
  Answer operator()(const std::string& request, Words& words) {
    if (request == "threads") {
      set_threads(static_cast<int>(words.number()));
      return Answer().add("threads", threads());
    }
    if (request != "product") raise(Error("no such request: " + printable(request)));
    const index_t rows = words.number(), outputs = words.number(), inputs = words.number();
    if (rows * inputs != x_.size() || outputs * inputs * copies != w_.size()) {
      x_ = fill(rows * inputs, 1);
      w_ = fill(copies * outputs * inputs, 2);
      y_ = Buffer<float>(rows * outputs);
    }
    at_ = (at_ + 1) % copies;
    const float* w = w_.data() + at_ * outputs * inputs;
    const double time = seconds([&] {
      kernels::matmul({y_.data(), rows, outputs, outputs}, {x_.data(), rows, inputs, inputs},
                      {reinterpret_cast<const std::byte*>(w), Dtype::f32, outputs, inputs,
                       index_t{sizeof(float)} * inputs});
    });
    std::vector<double> some;
    for (index_t i = 0; i < 8; ++i) {
      some.push_back(double{y_.data()[(i * 7919 * 104729 + i) % y_.size()]});
    }
    return Answer().add("seconds", time).add("copy", static_cast<double>(at_)).add("some", some);
  }

 private:
  static constexpr index_t copies = 4;

  static Buffer<float> fill(index_t count, std::uint32_t seed) {
    Buffer<float> numbers(count);
    for (index_t i = 0; i < count; ++i) numbers.data()[i] = operand(i, seed);
    return numbers;
  }

  Buffer<float> x_, w_, y_;
  index_t at_ = 0;
};

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "write") {
    ModelFile(words[1], format_named(words[2])).write(words[3]);
  } else if (words.size() == 2 && words[0] == "serve") {
    std::unique_ptr<Served> served;
    const double time = seconds([&] { served = std::make_unique<Served>(words[1]); });
    served->hello().add("load_seconds", time).send();
    answer_all([&](const std::string& r, Words& w) { return (*served)(r, w); });
  } else if (words.size() == 1 && words[0] == "limits") {
    answer_all(limits);
  } else if (words.size() == 1 && words[0] == "products") {
    Products products;
    answer_all([&](const std::string& r, Words& w) { return products(r, w); });
  } else if (words.size() == 3 && words[0] == "first") {
    const index_t count = std::stoll(words[2]);
    Served served(words[1]);
    const double first = served.first_token(count);
    Answer().add("seconds", first).send();  // the driver's clock stops here
    Answer().add("seconds", served.first_token(count)).send();
  } else {
    raise(Error("expected write, serve, limits, products or first; see the head of the source"));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "imbrex_side: %s\n", error.what());
    return 1;
  }
}
