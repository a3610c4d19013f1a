// Continues a text, or answers a question, with a model from a GGUF file.
//
//   generate --model model.gguf --prompt "Once upon a time"
//   generate --model model.gguf --chat --prompt "Why is the sky blue?"
//   generate --model model.gguf --chat                 a dialogue, a line a turn
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "command_line.hpp"
#include "imbrex/base/isa.hpp"
#include "imbrex/base/threads.hpp"
#include "imbrex/checkpoint/load.hpp"
#include "imbrex/generation/session.hpp"
#include "imbrex/text/chat.hpp"
#include "imbrex/text/gguf_vocabulary.hpp"

using namespace imbrex;

namespace {

constexpr const char* usage =
    "usage: generate --model FILE.gguf [--prompt TEXT] [options]\n"
    "\n"
    "  --model FILE            the model (GGUF, architecture llama)\n"
    "  --prompt TEXT           the text to continue; with --chat the question\n"
    "  --chat                  lay the prompt out as a dialogue; without --prompt, read one from\n"
    "                          standard input, a line a turn\n"
    "  --system TEXT           the system message of the dialogue (with --chat)\n"
    "  --max-tokens N          stop after N tokens (256)\n"
    "  --stop TEXT             stop before TEXT; may be given more than once\n"
    "  --temperature X         0 takes the most likely token each time (0)\n"
    "  --top-k N               sample among the N most likely tokens; 0 is all (0)\n"
    "  --top-p X               sample among the tokens that make up this probability (1)\n"
    "  --min-p X               drop tokens less likely than X times the most likely (0)\n"
    "  --repetition-penalty X  make tokens seen lately less likely (1: off)\n"
    "  --seed N                the same seed gives the same text (0)\n"
    "  --context N             room for N tokens, at most the model's context (that, or 4096\n"
    "                          where it is longer)\n"
    "  --cache FORMAT          how keys and values are kept: f32, f16 or bf16 (f32)\n"
    "  --threads N             threads (all cores)\n"
    "  --no-map                read the file into memory instead of mapping it\n"
    "  --quiet                 no statistics\n"
    "  --help, -h              this text\n";

struct Arguments {
  std::string model, prompt, system;
  bool has_prompt = false, has_system = false, chat = false, quiet = false, help = false;
  FileAccess access = FileAccess::map;
  GenerationOptions generation{.sampling = {.temperature = 0}};
  SessionOptions session;
};

Dtype cache_format(std::string_view word) {
  if (word == "f32") return Dtype::f32;
  if (word == "f16") return Dtype::f16;
  if (word == "bf16") return Dtype::bf16;
  raise(examples::UsageError("--cache: expected f32, f16 or bf16, got " + printable(word)));
}

/// Takes an option of what is generated; false where it is none.
bool take_generation(std::string_view option, examples::CommandLine& line, GenerationOptions& g) {
  if (option == "--max-tokens")
    g.max_tokens = line.number<index_t>(option);
  else if (option == "--stop")
    g.stops.push_back(line.value(option));
  else if (option == "--temperature")
    g.sampling.temperature = line.number<double>(option);
  else if (option == "--top-k")
    g.sampling.top_k = line.number<index_t>(option);
  else if (option == "--top-p")
    g.sampling.top_p = line.number<double>(option);
  else if (option == "--min-p")
    g.sampling.min_p = line.number<double>(option);
  else if (option == "--repetition-penalty")
    g.sampling.repetition_penalty = line.number<double>(option);
  else if (option == "--seed")
    g.seed = line.number<std::uint64_t>(option);
  else
    return false;
  return true;
}

/// Throws UsageError where the options do not go together.
void check_together(const Arguments& a) {
  if (a.model.empty()) raise(examples::UsageError("expected --model FILE.gguf: see --help"));
  if (!a.has_prompt && !a.chat)
    raise(examples::UsageError("expected --prompt TEXT or --chat: see --help"));
  if (a.has_system && !a.chat)
    raise(examples::UsageError("--system: expected --chat with it: see --help"));
}

[[noreturn]] void refuse_word(std::string_view word) {
  if (word.starts_with("-")) {
    raise(examples::UsageError("unknown option " + printable(word) + ": see --help"));
  }
  raise(examples::UsageError("unexpected word '" + printable(word) +
                             "': a file is --model FILE, a text --prompt \"TEXT\""));
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  examples::CommandLine line(argc, argv);
  while (!line.done()) {
    const std::string_view option = line.take();
    if (take_generation(option, line, a.generation)) continue;
    if (option == "--model")
      a.model = line.value(option);
    else if (option == "--prompt")
      a.prompt = line.value(option), a.has_prompt = true;
    else if (option == "--system")
      a.system = line.value(option), a.has_system = true;
    else if (option == "--chat")
      a.chat = true;
    else if (option == "--context")
      a.session.capacity = line.number<index_t>(option);
    else if (option == "--cache")
      a.session.cache = cache_format(line.value(option));
    else if (option == "--threads")
      set_threads(line.number<int>(option));
    else if (option == "--no-map")
      a.access = FileAccess::read;
    else if (option == "--quiet")
      a.quiet = true;
    else if (examples::asks_for_help(option))
      a.help = true;
    else
      refuse_word(option);
  }
  if (a.help) return a;
  check_together(a);
  check(a.generation);
  return a;
}

/// Shows how far loading is, on a terminal only.
Decoder<> load_visibly(const GgufFile& file) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  auto show = [&](index_t done, index_t total) {
    if (!terminal) return;
    std::fprintf(stderr, "\rloading %s: %3d %%", printable(file.name(), 256).c_str(),
                 static_cast<int>(100 * done / total));
    if (done == total) std::fprintf(stderr, "\r\033[K");
  };
  return load(file, show);
}

bool print(std::string_view piece) {
  std::fwrite(piece.data(), 1, piece.size(), stdout);
  examples::check_output();
  return true;
}

GenerationResult say(Session<>& session, const GenerationOptions& options) {
  struct LineEnd {  // also before an error's line
    ~LineEnd() { std::printf("\n"); }
  } end;
  return session.generate(options, print);
}

void answer(Session<>& session, const Arguments& a) {
  const GenerationResult result = say(session, a.generation);
  if (!a.quiet && result.reason == StopReason::length) {
    std::fprintf(stderr, "(stopped after %zu tokens: --max-tokens)\n", result.tokens.size());
  }
}

/// A dialogue: one question, or one a line until the input ends.
void chat(Session<>& session, const Tokenizer& tokenizer, const Arguments& a) {
  const ChatMl chat(tokenizer);
  const bool terminal = isatty(STDIN_FILENO) == 1;
  std::string line = a.prompt;
  if (!a.has_prompt && terminal) std::fprintf(stderr, "> ");
  while (a.has_prompt || std::getline(std::cin, line)) {
    std::vector<Message> messages;
    const bool first = session.tokens().empty();
    if (first && !a.system.empty()) messages.push_back({"system", a.system});
    messages.push_back({"user", line});
    session.feed(first ? chat.encode(messages) : chat.encode_next(messages.back()));
    answer(session, a);
    if (a.has_prompt) return;
    if (terminal) std::fprintf(stderr, "> ");
  }
}

void print_statistics(const Session<>& session) {
  const SessionStatistics& s = session.statistics();
  std::fprintf(stderr, "\n%-7s %6lld tokens  %8.2f s  %8.1f tokens/s\n", "prompt",
               static_cast<long long>(s.prompt.tokens), s.prompt.seconds,
               s.prompt.tokens_per_second());
  std::fprintf(stderr, "%-7s %6lld tokens  %8.2f s  %8.1f tokens/s  %.1f MB a token, %.2f GB/s\n",
               "decode", static_cast<long long>(s.decode.tokens), s.decode.seconds,
               s.decode.tokens_per_second(), static_cast<double>(s.bytes_per_token) / 1e6,
               s.decode_bandwidth() / 1e9);
  std::fprintf(stderr, "%d threads, %s\n", threads(), name(active_isa()));
}

/// Throws UsageError for a --context that the model does not allow.
void check_context(index_t tokens, const Config& config) {
  if (tokens >= 0 && tokens <= config.context) return;
  raise(examples::UsageError("--context: expected at most the model's context, " +
                             std::to_string(config.context) + ", or 0 for it, got " +
                             std::to_string(tokens)));
}

void generate(const Arguments& a) {
  active_isa();  // a wrong IMBREX_ISA is told before a large file is read
  const GgufFile file = GgufFile::open(a.model, a.access);
  const Decoder<> decoder = load_visibly(file);
  check_context(a.session.capacity, decoder.config());
  const Tokenizer tokenizer(read_vocabulary(file));
  Session<> session(decoder, tokenizer, a.session);
  if (a.chat) {
    chat(session, tokenizer, a);
  } else {
    session.feed(std::string_view(a.prompt));
    print(a.prompt);
    answer(session, a);
  }
  if (!a.quiet) print_statistics(session);
}

bool run(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  if (a.help) return false;
  try {
    generate(a);
  } catch (const NumericError& error) {  // of the model's own numbers
    raise(NumericError(printable(a.model, 256) + ": " + error.what()));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) { return examples::run_main("generate", usage, argc, argv, run); }
