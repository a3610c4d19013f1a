// What every head of a model attends to in a text.
//
//   attention_maps --model model.gguf --prompt "The cat sat." --svg maps.svg     all heads
//   attention_maps --model model.gguf --layer 3 --head 2 --svg head.svg          one of them
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "attention_weights.hpp"
#include "command_line.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"
#include "imbrex/text/tokenizer.hpp"
#include "svg.hpp"
#include "table.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: attention_maps --model FILE.gguf [options]\n"
    "\n"
    "Shows which tokens each attention head looks at.\n"
    "  --model FILE       the model (GGUF, architecture llama)\n"
    "  --prompt TEXT      the text (\"The cat chased the mouse. Then the cat chased the dog.\")\n"
    "  --tokens N,N,...   tokens instead of a text, for files without a tokenizer\n"
    "  --layer N --head N show one head, from 0, with its weights; without them all heads\n"
    "  --svg FILE         draw them as well\n";

constexpr std::size_t most_tokens = 256;

struct Options {
  std::string model, svg, prompt = "The cat chased the mouse. Then the cat chased the dog.";
  std::vector<token_t> tokens;
  index_t layer = -1, head = -1;
  bool has_prompt = false, help = false;
};

/// Shares of a head's weight, means over the queries from the third on (before, they are the same
/// key).
struct Shares {
  double first = 0, itself = 0, before = 0;

  Shares(const std::vector<float>& weights, std::size_t t) {
    for (std::size_t i = 2; i < t; ++i) {
      const double n = static_cast<double>(t - 2);
      first += double{weights[i * t]} / n;
      itself += double{weights[i * t + i]} / n;
      before += double{weights[i * t + i - 1]} / n;
    }
  }

  char letter() const { return first > 0.5 ? 'f' : itself > 0.5 ? 's' : before > 0.5 ? 'b' : '.'; }
};

/// A token's text with its spaces visible.
std::string visible(std::string_view text) {
  std::string result;
  for (const char c : printable(text, 24)) {
    if (c == ' ') {
      result += "\xC2\xB7";  // a middle dot
    } else {
      result += c;
    }
  }
  return result;
}

/// The tokens of the options, and a text for each.
std::vector<std::string> texts_of(const GgufFile& file, const Decoder<>& decoder, Options& a) {
  std::vector<std::string> texts;
  if (a.tokens.empty()) {
    const Tokenizer tokenizer(read_vocabulary(file));
    a.tokens = tokenizer.encode_prompt(a.prompt);
    for (const token_t id : a.tokens) {
      texts.push_back(visible(tokenizer.piece(id, SpecialText::shown)));
    }
  } else {
    for (const token_t id : a.tokens) texts.push_back(std::to_string(id));
  }
  if (a.tokens.empty() || a.tokens.size() > most_tokens) {
    raise(examples::UsageError("expected 1 to " + std::to_string(most_tokens) + " tokens, got " +
                               std::to_string(a.tokens.size())));
  }
  const Dims& dims = decoder.config().dims;
  const auto check = [](const char* option, index_t value, index_t count) {
    if (value < count) return;
    raise(examples::UsageError(std::string(option) + ": expected 0 to " +
                               std::to_string(count - 1) + ", got " + std::to_string(value)));
  };
  check("--layer", a.layer, dims.layers);
  check("--head", a.head, dims.heads);
  return texts;
}

// --- One head, and all of them -------------------------------------------------------------------

void print_head(const std::vector<float>& weights, const std::vector<std::string>& texts) {
  const std::size_t t = texts.size();
  std::printf("\nA row is a query, a column a key; * is a weight that rounds to 0.00.\n");
  examples::Table table(std::string(t + 1, 'r') + "l");
  std::vector<std::string> numbers{""};
  for (std::size_t j = 0; j < t; ++j) numbers.push_back(std::to_string(j));
  table.add(numbers);
  for (std::size_t i = 0; i < t; ++i) {
    std::vector<std::string> cells{std::to_string(i)};
    for (std::size_t j = 0; j < t; ++j) {
      const double w = double{weights[i * t + j]};
      cells.push_back(w == 0 ? "" : w < 0.005 ? "*" : examples::decimals(w, 2));
    }
    cells.push_back(texts[i]);
    table.add(cells);
  }
  table.print();
}

examples::Picture picture_of_head(const std::vector<float>& weights,
                                  const std::vector<std::string>& texts, const Options& a) {
  const double t = static_cast<double>(texts.size()), cell = std::fmax(6, std::fmin(32, 560 / t));
  const double side = t * cell, left = 110, top = 130, size = std::fmin(13, cell);
  const std::string title = "layer " + std::to_string(a.layer) + ", head " + std::to_string(a.head);
  examples::Picture picture(left + side + 70, top + side + 20, title);
  picture.text({12, 24}, title, {14});
  picture.text({12, 42}, "rows are queries, columns keys", {11});
  picture.cells({left, top, side, side}, weights, texts.size(), examples::colours[0]);
  picture.rectangle({left, top, side, side}, "none", {examples::faint});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const double at = (static_cast<double>(i) + 0.5) * cell;
    picture.text({left - 6, top + at + size / 3}, texts[i], {size, examples::Anchor::end});
    picture.text({left + at + size / 3, top - 6}, texts[i], {size, examples::Anchor::start, -60});
  }
  return picture;
}

/// A row of squares for each head, a column for each layer.
class Grid {
 public:
  Grid(const Dims& dims, const std::string& title)
      : picture_(left + static_cast<double>(dims.layers) * step + 10,
                 top + static_cast<double>(dims.heads) * step + 10, title) {
    picture_.text({12, 20}, title, {13});
    const examples::TextStyle small_text{10, examples::Anchor::middle};
    for (index_t i = 0; i < dims.layers; ++i) {
      picture_.text({square(i, 0).x + side / 2, top - 6}, std::to_string(i), small_text);
    }
    for (index_t h = 0; h < dims.heads; ++h) {
      picture_.text({left - 14, square(0, h).y + side / 2 + 4}, std::to_string(h), small_text);
    }
    picture_.text({left - 6, top - 20}, "layer", {10});
    picture_.text({10, top - 6}, "head", {10});
  }

  void add(index_t layer, index_t head, const std::vector<float>& weights, std::size_t tokens) {
    picture_.cells(square(layer, head), weights, tokens, examples::colours[0]);
    picture_.rectangle(square(layer, head), "none", {examples::faint, 0.6});
  }

  const examples::Picture& picture() const { return picture_; }

 private:
  static constexpr double side = 34, step = 38, left = 48, top = 62;

  examples::Box square(index_t layer, index_t head) const {
    return {left + static_cast<double>(layer) * step, top + static_cast<double>(head) * step, side,
            side};
  }

  examples::Picture picture_;
};

/// The letters of all heads, and the heads that do each thing most.
class Overview {
 public:
  void add(index_t layer, index_t head, const Shares& shares) {
    if (head == 0) lines_.push_back({});
    lines_.back() += std::string(" ") + shares.letter();
    keep(first_, layer, head, shares.first);
    keep(itself_, layer, head, shares.itself);
    keep(before_, layer, head, shares.before);
  }

  void print() const {
    std::printf(
        "\nWhere more than half of a head's weight goes: f the first token, s the token itself,\n"
        "b the one before it, . nowhere (means over the queries from the third on)\n\n"
        "layer  heads\n");
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::printf("%5zu %s\n", i, lines_[i].c_str());
    }
    std::printf("\n");
    for (const auto& [name, best] :
         {std::pair("the first token", first_), std::pair("itself", itself_),
          std::pair("the one before", before_)}) {
      std::printf("most on %-15s  layer %2d, head %2d: %.3f\n", name, static_cast<int>(best.layer),
                  static_cast<int>(best.head), best.share);
    }
  }

 private:
  struct Best {
    index_t layer = 0, head = 0;
    double share = -1;
  };

  static void keep(Best& best, index_t layer, index_t head, double share) {
    if (share > best.share) best = {layer, head, share};
  }

  std::vector<std::string> lines_;
  Best first_, itself_, before_;
};

// --- The pass ------------------------------------------------------------------------------------

/// Calls visit(layer, head, weights) for every head, while a pass over the tokens runs, and returns
/// the largest deviation.
template <class Visit>
double each_head(const Decoder<>& decoder, const std::vector<token_t>& tokens, const Visit& visit) {
  const index_t t = static_cast<index_t>(tokens.size());
  Workspace workspace(decoder, t);
  KvCache cache(decoder.config(), t);
  examples::Observed observed;
  std::vector<float> weights(static_cast<std::size_t>(t * t));
  double worst = 0;
  decoder.last_logits(workspace, cache, tokens, [&](const Step& step) {
    observed.take(step);
    if (std::string_view(step.name) != "attended") return;
    const examples::AttentionLayer layer = decoder.block(step.layer).attention;
    for (index_t head = 0; head < observed.heads; ++head) {
      examples::weights_of(observed, layer, head, weights);
      worst = std::fmax(worst, examples::deviation(observed, layer, head, weights));
      visit(step.layer, head, weights);
    }
  });
  return worst;
}

/// "1,20,300" as tokens.
std::vector<token_t> token_list(const std::string& text) {
  std::vector<token_t> tokens;
  const char* at = text.data();
  for (const char* end = at + text.size();; ++at) {
    token_t token = 0;
    const auto [rest, error] = std::from_chars(at, end, token);
    if (error != std::errc() || (rest != end && *rest != ',')) {
      raise(examples::UsageError("--tokens: expected numbers with commas between them, got \"" +
                                 printable(text) + "\""));
    }
    tokens.push_back(token);
    at = rest;
    if (at == end) return tokens;
  }
}

Options parse(int argc, char** argv) {
  Options a;
  examples::CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view option = line.take();
    if (option == "--model")
      a.model = line.value(option);
    else if (option == "--prompt")
      a.prompt = line.value(option), a.has_prompt = true;
    else if (option == "--tokens")
      a.tokens = token_list(line.value(option));
    else if (option == "--layer")
      a.layer = line.number<std::uint32_t>(option);
    else if (option == "--head")
      a.head = line.number<std::uint32_t>(option);
    else if (option == "--svg")
      a.svg = line.file(option);
    else if (examples::asks_for_help(option))
      a.help = true;
    else
      examples::refuse(option);
  }
  if (a.help) return a;
  if (a.model.empty()) raise(examples::UsageError("expected --model FILE.gguf: see --help"));
  if (a.has_prompt && !a.tokens.empty()) {
    raise(examples::UsageError("--tokens: expected no --prompt with it: see --help"));
  }
  if ((a.layer < 0) != (a.head < 0)) {
    raise(examples::UsageError("expected --layer and --head together: see --help"));
  }
  return a;
}

void show(Options a) {
  const GgufFile file = GgufFile::open(a.model);
  const Decoder<> decoder = load(file);
  const std::vector<std::string> texts = texts_of(file, decoder, a);
  const Dims& dims = decoder.config().dims;
  std::printf("%d layers of %d heads; %zu tokens:", static_cast<int>(dims.layers),
              static_cast<int>(dims.heads), texts.size());
  for (const std::string& text : texts) std::printf(" %s", text.c_str());
  std::printf("\n");

  const bool one = a.layer >= 0;
  Overview overview;
  Grid grid(dims, "Attention of every head: rows of a square are queries, columns keys");
  std::vector<float> wanted;
  const double worst =
      each_head(decoder, a.tokens, [&](index_t layer, index_t head, const auto& weights) {
        if (layer == a.layer && head == a.head) wanted = weights;
        if (one) return;
        overview.add(layer, head, Shares(weights, texts.size()));
        if (!a.svg.empty()) grid.add(layer, head, weights, texts.size());
      });
  if (one) {
    print_head(wanted, texts);
  } else {
    overview.print();
  }
  // Its digits depend on the order of sums, so on the width of the machine's vectors.
  std::printf("\nweights times values against what the decoder attended: largest difference ");
  std::printf(worst < 1e-5 ? "below 1e-5\n" : "%.0e\n", worst);
  if (!a.svg.empty()) (one ? picture_of_head(wanted, texts, a) : grid.picture()).write(a.svg);
}

bool run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (!options.help) show(options);
  return !options.help;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("attention_maps", usage, argc, argv, run);
}
