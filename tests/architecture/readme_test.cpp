// The README's table of what works, held against the lists that the library has: what stands under
// "works" is all that it takes, and what stands under "not yet" it refuses.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "imbrex/imbrex.hpp"
#include "imbrex/kernels/arch/table.hpp"
#include "tests/checkpoint/draft_model.hpp"
#include "tests/formats/handmade_gguf.hpp"
#include "tests/message_of.hpp"
#include "tests/support/text.hpp"
#if __has_include(<pcre2.h>)
#include "imbrex/text.hpp"
#include "tests/text/tiny_vocabulary.hpp"
#endif

using namespace imbrex;
using imbrex::tests::cells;
using imbrex::tests::complaint_of;
using imbrex::tests::contents;
using imbrex::tests::DraftModel;

namespace {

namespace fs = std::filesystem;

const fs::path root = fs::path(IMBREX_INCLUDE_DIR).parent_path();

struct Row {
  std::string works, not_yet;
};

/// The table, by the first cell of each row.
const std::map<std::string, Row>& table() {
  static const std::map<std::string, Row> rows = [] {
    std::map<std::string, Row> read;
    std::ifstream file(root / "README.md");
    std::string line;
    while (std::getline(file, line) && line != "## What works, and what does not yet") continue;
    while (std::getline(file, line) && !line.starts_with("## ")) {
      const std::vector<std::string> row = cells(line);
      if (row.size() == 3 && !row[0].empty() && row[0] != "---") read[row[0]] = {row[1], row[2]};
    }
    return read;
  }();
  return rows;
}

const Row& row(const std::string& name) {
  const auto found = table().find(name);
  REQUIRE_MESSAGE(found != table().end(), "README.md has no row '" << name << "'");
  return found->second;
}

/// The words between backquotes.
std::vector<std::string> quoted_words(const std::string& cell) {
  std::vector<std::string> words;
  for (std::size_t at = cell.find('`'); at != cell.npos;) {
    const std::size_t end = cell.find('`', at + 1);
    words.push_back(cell.substr(at + 1, end - at - 1));
    at = cell.find('`', end + 1);
  }
  return words;
}

std::string joined(const std::vector<std::string>& words, const char* between = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// What is wrong with a small model with one key set to another value.
template <class T>
std::string complaint_with(const char* key, const T& value) {
  return complaint_of(DraftModel().set(key, value).bytes());
}

}  // namespace

TEST_CASE("README: the table has the rows that are known, in which nothing is missing") {
  for (const auto& [name, unused] : table()) {
    CAPTURE(name);
    CHECK(contains(
        " files architectures weights tokenizers chat cache decoding a token prompts training ",
        " " + name + " "));
  }
  CHECK(table().size() == 9);
  CHECK(complaint_of(DraftModel().bytes()) == "nothing");
}

TEST_CASE("README: files") {
  std::vector<std::string> versions;
  for (std::uint32_t number = 0; number < 10; ++number) {
    handmade::Bytes bytes;
    bytes.header(0, 0, number);
    if (message_of<FormatError>([&] { GgufFile::parse(bytes.data, "f"); })[0] == '(') {
      versions.push_back("v" + std::to_string(number));
    }
  }
  CHECK(row("files").works == "GGUF " + joined(versions, " and "));

  CHECK(row("files").not_yet == "safetensors");
  handmade::Bytes safetensors;  // the length of the header, and the header
  const std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  safetensors.text(header).zeros(4);
  CHECK(contains(complaint_of(safetensors.data), "not a GGUF file"));
}

TEST_CASE("README: architectures") {
  std::vector<std::string> known;
  for (const auto& architecture : gguf_config::architectures) known.emplace_back(architecture.name);
  CHECK(quoted_words(row("architectures").works) == known);

  const std::vector<std::string> later = quoted_words(row("architectures").not_yet);
  CHECK(later.size() > 3);
  for (const std::string& name : later) {
    CHECK(contains(complaint_with("general.architecture", name),
                   "general.architecture = " + name + ": expected " + joined(known)));
  }
  CHECK(contains(row("architectures").not_yet, "mixtures of experts"));
  CHECK(contains(complaint_with("llama.expert_count", std::uint32_t{8}), "mixture of experts"));
}

TEST_CASE("README: weights") {
  std::vector<std::string> formats;
  for (int i = 0; i < dtype_count; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    CHECK(to_dtype(to_gguf_type(dtype)) == dtype);
    const std::vector<std::byte> block(static_cast<std::size_t>(traits(dtype).bytes));
    std::vector<float> numbers(static_cast<std::size_t>(traits(dtype).block), 1.0f);
    kernels::decode(dtype, block.data(), traits(dtype).block, numbers.data());
    CHECK(numbers.back() == 0);  // every format reads a block of zero bytes so
    formats.emplace_back(name(dtype));
  }
  CHECK(row("weights").works == joined(formats));

  // Numbers that are no weights, and what ggml quantises activations to, are not promised.
  const std::string others = " F64 I8 I16 I32 I64 Q8_1 Q8_K ";
  const std::string later = row("weights").not_yet;
  for (std::uint32_t number = 0; number < gguf_type_end; ++number) {
    if (!is_gguf_type(number)) continue;
    const GgufType type = static_cast<GgufType>(number);
    if (to_dtype(type) || contains(others, std::string(" ") + name(type) + " ")) continue;
    const std::string whole = name(type), family = whole.substr(0, 2);
    const bool by_family = family == "IQ" || family == "TQ";
    CHECK_MESSAGE(contains(later, by_family ? family : whole), whole << " is not in: " << later);
  }
  CHECK(later == "IQ and TQ formats, MXFP4, NVFP4, Q1_0");
  for (const GgufType type : {GgufType::iq4_nl, GgufType::mxfp4}) {  // blocks of 32, as the model
    const std::string complaint =
        complaint_of(DraftModel().tensor("blk.0.attn_q.weight", {32, 32}, type).bytes());
    CHECK(contains(complaint, "a format that cannot be computed with"));
    CHECK(complaint.ends_with(std::string("got ") + name(type)));
  }
}

TEST_CASE("README: cache") {
  const KvCache cache({.dims = DraftModel::dims}, 10);
  static_assert(std::is_same_v<decltype(cache.keys(0, 0))::element_type, const float>);
  CHECK(cache.bytes() == 2 * 2 * 2 * 8 * 10 * 4);  // layers, kv heads, head_dim, positions, f32
  std::vector<std::string> formats;
  for (int i = 0; i < dtype_count; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    const std::string refused =
        message_of<ConfigError>([&] { KvCache({.dims = DraftModel::dims}, 10, dtype); });
    if (!contains(refused, "F32, F16 or BF16")) formats.emplace_back(name(dtype));
  }
  CHECK(row("cache").works == joined(formats, ", "));
  CHECK(row("cache").not_yet == "paged");  // a cache is one block of positions
}

TEST_CASE("README: decoding a token") {
  std::vector<std::string> sets, formats;
  for (int i = 0; i < isa_count; ++i) sets.push_back(name(static_cast<Isa>(i)));
  const std::string works = row("decoding a token").works;
  CHECK(quoted_words(works) == sets);
  for (int i = 0; i < dtype_count; ++i) {
    const auto has_dot = [i](int set) {
      return kernels::kernels_of(static_cast<Isa>(set)).dot[i] != nullptr;
    };
    for (int set = 1; set < isa_count; ++set) CHECK(has_dot(set) == has_dot(0));
    if (has_dot(0)) formats.push_back(name(static_cast<Dtype>(i)));
    for (int set = 0; set < isa_count; ++set) {
      const bool rounded = kernels::kernels_of(static_cast<Isa>(set)).rounded.by_dtype[i].multiply;
      CHECK(rounded == (traits(static_cast<Dtype>(i)).block > 1));
    }
  }
  CHECK(contains(works, "straight from every format, activations rounded to int8 where"));
  CHECK(contains(works, "in floats straight from " + joined(formats) + ";"));

  const char* before = std::getenv("IMBREX_ISA");
  const std::string kept = before != nullptr ? before : "";
  const std::vector<std::string> later = quoted_words(row("decoding a token").not_yet);
  CHECK(later.size() == 1);
  for (const std::string& set : later) {
    ::setenv("IMBREX_ISA", set.c_str(), 1);
    CHECK(contains(message_of<ConfigError>([] { isa_detail::choose_isa(); }),
                   "IMBREX_ISA = " + set + ": expected one that this machine has: scalar"));
  }
  if (before != nullptr) {
    ::setenv("IMBREX_ISA", kept.c_str(), 1);
  } else {
    ::unsetenv("IMBREX_ISA");
  }
}

TEST_CASE("README: the number of presets") {
  CHECK(contains(contents(root / "README.md"),
                 " " + std::to_string(std::size(presets::all)) + " published models"));
}

#if __has_include(<pcre2.h>)
TEST_CASE("README: tokenizers") {
  const auto complaint = [](const char* model, const std::string& pattern) {
    GgufWriter writer;
    writer.add("tokenizer.ggml.model", model);
    writer.add("tokenizer.ggml.pre", pattern);
    const std::vector<std::byte> bytes = writer.to_bytes();
    return message_of<Error>([&] { read_vocabulary(GgufFile::parse(bytes, "f")); });
  };
  std::vector<std::string> known = quoted_words(row("tokenizers").works);
  REQUIRE(known.size() > 1);
  CHECK(known[0] == "gpt2");  // the model; the others are its patterns
  known.erase(known.begin());
  CHECK(joined(known) == text::split_pattern_names);
  for (const std::string& pattern : known) {  // past both checks: the tokens are missing
    CHECK(contains(complaint("gpt2", pattern), "missing key (tokenizer.ggml.token_type)"));
  }

  const std::vector<std::string> later = quoted_words(row("tokenizers").not_yet);
  CHECK(later.size() == 3);
  for (const std::string& model : later) {
    CHECK(contains(complaint(model.c_str(), "default"),
                   "tokenizer.ggml.model = " + model + ": expected a known tokenizer: gpt2"));
  }
}

TEST_CASE("README: chat") {
  const auto complaint = [](const char* chat_template) {
    tests::TinyVocabulary tiny("gpt-2", {{"\n", "\n"}});
    tiny.add("<|im_start|>", TokenType::control);
    tiny.add("<|im_end|>", TokenType::control);
    tiny.parts.chat_template = chat_template;
    const Tokenizer tokenizer{Vocabulary(tiny.parts)};
    return message_of<Error>([&] { ChatMl chat(tokenizer); });
  };
  CHECK(row("chat").works == "ChatML");
  CHECK(complaint("{{'<|im_start|>' + role + '\\n' + content + '<|im_end|>'}}")[0] == '(');
  CHECK(row("chat").not_yet == "other templates");
  for (const char* other : {"", "[INST] {{content}} [/INST]", "<|start_header_id|>{{role}}"}) {
    CHECK(contains(complaint(other), "expected a ChatML template"));
  }
}
#endif
