// What formats, instruction sets and arithmetic do to a model's answers, on a text.
//
//   accuracy MODEL.gguf TEXT TOKENS [NAME=FILE.gguf ...]
//
// The weights of MODEL are taken as f32 (decoded, where they are not), and encoded anew in every
// format that `kernels::encode` writes; further files hold them in other formats. A line of JSON
// for each format and instruction set; the arithmetic is what IMBREX_ARITHMETIC says.
//
//   path_error   of the logits, against the same stored weights in f32 arithmetic by plain loops
//                (IMBREX_ISA=scalar): what kernels do
//   error        of the logits, against f32 weights and arithmetic: what format and kernels do
//   perplexity   exp of the mean of -ln p(next token); same: how often the likeliest token is the
//                one of f32
//
// Errors are |got - want| / |want| over all logits. The text goes through in windows of 256 tokens,
// each from an empty cache; path_error is of the first 64 tokens.
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "bench/peers/worker.hpp"
#include "imbrex/base/arithmetic.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"

using namespace imbrex;
using namespace peers;

namespace {

constexpr index_t window = 256, path_tokens = 64;

using Logits = std::vector<float>;
using Tokens = std::span<const token_t>;

/// The logits after every token of a text.
Logits evaluate(const Decoder<>& decoder, Tokens tokens) {
  const index_t vocab = decoder.config().dims.vocab;
  Workspace workspace(decoder, window, window);
  KvCache cache(decoder.config(), window);
  Logits all;
  for (std::size_t at = 0; at < tokens.size(); at += window) {
    cache.clear();
    const Tokens part = tokens.subspan(at, (std::min)(tokens.size() - at, std::size_t{window}));
    const float* logits = decoder.all_logits(workspace, cache, part).data();
    all.insert(all.end(), logits, logits + static_cast<index_t>(part.size()) * vocab);
  }
  return all;
}

double distance(std::span<const float> got, std::span<const float> want) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double g = double{got[i]}, w = double{want[i]};
    difference += (g - w) * (g - w);
    size += w * w;
  }
  return std::sqrt(difference / size);
}

/// exp of the mean of -ln p(token i + 1 | tokens up to i), p the softmax of row i.
double perplexity(const Logits& logits, Tokens tokens, index_t vocab) {
  double sum = 0;
  index_t count = 0;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if ((i + 1) % window == 0) continue;  // the next token is in another window
    const float* row = logits.data() + static_cast<index_t>(i) * vocab;
    const double most = double{*std::max_element(row, row + vocab)};
    double exponentials = 0;
    for (index_t v = 0; v < vocab; ++v) exponentials += std::exp(double{row[v]} - most);
    sum += std::log(exponentials) + most - double{row[tokens[i + 1]]};
    ++count;
  }
  return std::exp(sum / static_cast<double>(count));
}

/// The share of rows whose largest logit is at the same token.
double same_choice(const Logits& a, const Logits& b, index_t vocab) {
  const index_t rows = static_cast<index_t>(a.size()) / vocab;
  index_t same = 0;
  for (index_t i = 0; i < rows; ++i) {
    const float *x = a.data() + i * vocab, *y = b.data() + i * vocab;
    same += std::max_element(x, x + vocab) - x == std::max_element(y, y + vocab) - y ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(rows);
}

/// The same numbers in another format.
template <class Out, class In>
void convert(Weight<Out, In>& w, Dtype dtype) {
  if (w.data() == nullptr || w.dtype() == dtype) return;
  std::vector<float> numbers(static_cast<std::size_t>(w.rows() * w.cols()));
  kernels::decode(w.dtype(), w.data(), w.rows() * w.cols(), numbers.data());
  Buffer<std::byte> bytes(w.rows() * row_bytes(dtype, w.cols()));
  kernels::encode(dtype, numbers.data(), w.rows() * w.cols(), bytes.data());
  const std::byte* data = bytes.data();
  const index_t size = bytes.size();
  w = Weight<Out, In>(w.out(), w.in(), dtype, data, size, Owner::of(std::move(bytes)));
}

DecoderWeights converted(DecoderWeights w, const Config& config, Dtype dtype) {
  convert(w.embedding, dtype);
  if (!config.tie_embeddings) convert(w.head, dtype);
  for (BlockWeights& b : w.blocks) {
    convert(b.q, dtype), convert(b.k, dtype), convert(b.v, dtype), convert(b.out, dtype);
    convert(b.gate, dtype), convert(b.up, dtype), convert(b.down, dtype);
  }
  return w;
}

/// The arithmetic in use; and, for as long as one of these lives, f32.
class PlainArithmetic {
 public:
  PlainArithmetic() : isa_(active_isa()) {
    use_isa(Isa::scalar);
    use_arithmetic(Arithmetic::f32);
  }
  ~PlainArithmetic() {
    use_isa(isa_);
    use_arithmetic(arithmetic_);
  }
  static std::string used() { return name(active_arithmetic()); }

 private:
  Isa isa_;
  Arithmetic arithmetic_ = active_arithmetic();
};

class Comparison {
 public:
  Comparison(const DecoderWeights& f32, const Config& config, Tokens tokens)
      : tokens_(tokens), vocab_(config.dims.vocab), want_(f32_logits(f32, config)) {}

  /// A line for each instruction set; the whole text with the best one.
  void show(const std::string& format, const Decoder<>& decoder) const {
    const Isa best = active_isa();
    const Tokens some = tokens_.first((std::min)(tokens_.size(), std::size_t{path_tokens}));
    std::optional<Logits> plain;
    {
      const PlainArithmetic f32;
      plain = evaluate(decoder, some);
    }
    for (int i = 0; i < isa_count; ++i) {
      const Isa isa = static_cast<Isa>(i);
      const bool itself = isa == Isa::scalar && isa != best && PlainArithmetic::used() == "f32";
      if (!available(isa) || itself) continue;
      use_isa(isa);
      Answer line;
      line.add("format", format).add("isa", name(isa)).add("arithmetic", PlainArithmetic::used());
      line.add("path_error", distance(evaluate(decoder, some), *plain));
      if (isa == best) {
        const Logits got = evaluate(decoder, tokens_);
        line.add("error", distance(got, want_)).add("same", same_choice(got, want_, vocab_));
        line.add("perplexity", perplexity(got, tokens_, vocab_));
        line.add("tokens", static_cast<double>(tokens_.size()));
      }
      line.send();
    }
    use_isa(best);
  }

 private:
  /// On the best set, or a long text would take hours; but nothing rounded, attention neither.
  Logits f32_logits(const DecoderWeights& weights, const Config& config) const {
    const Arithmetic before = active_arithmetic();
    use_arithmetic(Arithmetic::f32);
    Logits logits = evaluate(Decoder<>(config, weights), tokens_);
    use_arithmetic(before);
    return logits;
  }

  Tokens tokens_;
  index_t vocab_;
  Logits want_;
};

void run(int argc, char** argv) {
  if (argc < 4) raise(Error("expected MODEL.gguf TEXT TOKENS [NAME=FILE.gguf ...]"));
  const GgufFile file = GgufFile::open(argv[1]);
  const Config config = config_from_gguf(file);
  std::ifstream in(argv[2], std::ios::binary);
  if (!in) raise(Error("cannot read " + printable(argv[2])));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::vector<token_t> tokens = Tokenizer(read_vocabulary(file)).encode(text);
  tokens.resize((std::min)(tokens.size(), static_cast<std::size_t>(std::stoll(argv[3]))));

  const DecoderWeights f32 = converted(read_gguf_weights(file, config), config, Dtype::f32);
  const Comparison comparison(f32, config, tokens);
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_1, Dtype::q4_0}) {
    comparison.show(name(dtype), Decoder<>(config, converted(f32, config, dtype)));
  }
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) raise(Error("expected NAME=FILE.gguf: " + printable(word)));
    comparison.show(word.substr(0, equals), load(word.substr(equals + 1)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "accuracy: %s\n", error.what());
    return 1;
  }
}
