// Writes the logits after each of some tokens, for tests/golden/smollm2/check.py to compare.
//
//     golden_logits --model MODEL.gguf --tokens FILE --out FILE
//
// The tokens' file has ids separated by white space; out come little-endian float32, [Time, Vocab].
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "imbrex/checkpoint/load.hpp"

namespace {

using namespace imbrex;

std::vector<token_t> read_tokens(const std::string& path) {
  std::ifstream file(path);
  std::vector<token_t> tokens;
  token_t token;
  while (file >> token) tokens.push_back(token);
  if (!file.eof() || tokens.empty())
    raise(FormatError({path, "expected token ids", "", -1, "", ""}));
  return tokens;
}

void run(const std::string& model, const std::string& tokens_path, const std::string& out) {
  const Decoder<> decoder = load(model);
  const std::vector<token_t> tokens = read_tokens(tokens_path);
  const index_t count = static_cast<index_t>(tokens.size());
  Workspace workspace(decoder, lesser(count, 256), count);
  KvCache cache(decoder.config(), count);
  const auto logits = decoder.all_logits(workspace, cache, tokens);
  std::ofstream file(out, std::ios::binary);
  file.write(reinterpret_cast<const char*>(logits.data()),
             static_cast<std::streamsize>(logits.count() * index_t{sizeof(float)}));
  file.close();
  if (!file) raise(FormatError({out, "cannot be written", "", -1, "", ""}));
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options = {{"--model", ""}, {"--tokens", ""}, {"--out", ""}};
  bool usable = argc == 7;
  for (int i = 1; i + 1 < argc; i += 2) {
    usable = usable && options.count(argv[i]) == 1;
    options[argv[i]] = argv[i + 1];
  }
  for (const auto& [option, value] : options) usable = usable && !value.empty();
  if (!usable) {
    std::fprintf(stderr, "usage: golden_logits --model MODEL.gguf --tokens FILE --out FILE\n");
    return 1;
  }
  try {
    run(options["--model"], options["--tokens"], options["--out"]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_logits: %s\n", error.what());
    return 1;
  }
  return 0;
}
