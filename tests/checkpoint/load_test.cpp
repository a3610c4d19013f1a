#include "imbrex/checkpoint/load.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "imbrex/model/presets.hpp"
#include "tests/checkpoint/draft_model.hpp"
#include "tests/formats/scratch_directory.hpp"
#include "tests/model/tiny_model.hpp"

using namespace imbrex;
using namespace imbrex::tests;

namespace {

/// What is said of the model with one thing changed.
template <class Change>
std::string with(const Change& change) {
  DraftModel model;
  change(model);
  return complaint_of(model);
}

}  // namespace

TEST_CASE("load: a model from memory, from a map, and read into memory") {
  DraftModel model;
  const std::vector<std::byte> bytes = model.bytes();
  const Tokens tokens = {1, 2, 3, 4};
  const Decoder<> parsed = load(GgufFile::parse(bytes, "draft.gguf"));
  CHECK(parsed.config().dims == DraftModel::dims);
  CHECK_FALSE(parsed.config().tie_embeddings);
  // Matrices are not copied.
  const std::byte* q = parsed.block(1).attention.q.weight().data();
  CHECK(q > bytes.data());
  CHECK(q < bytes.data() + bytes.size());

  const ScratchDirectory folder;
  const std::string path =
      folder.file("draft.gguf", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::vector<float> logits = logits_of(parsed, tokens);
  CHECK(different_bits(logits_of(load(path), tokens), logits) == "");
  CHECK(different_bits(logits_of(load(path, FileAccess::read), tokens), logits) == "");
  CHECK(different_bits(logits_of(load<DraftModel::dims>(path.c_str()), tokens), logits) == "");
}

TEST_CASE("load: the decoder keeps the file's bytes when the file is closed, and removed") {
  const ScratchDirectory folder;
  const std::string path = folder / "wide.gguf";
  std::filesystem::copy_file(tiny_path("wide.gguf"), path);
  const TinyGolden golden = tiny_golden("wide");
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    std::optional<GgufFile> file = GgufFile::open(path, access);
    const Decoder<> decoder = load(*file);
    file.reset();
    if (access == FileAccess::read) std::filesystem::remove(path);
    CHECK(worst_row(logits_of(decoder, golden.tokens), golden.logits, 320,
                    logits_tolerance(wide_dims)) == "");
  }
}

TEST_CASE("load: progress") {
  std::vector<std::pair<index_t, index_t>> calls;
  const auto note = [&](index_t done, index_t total) { calls.push_back({done, total}); };
  load(tiny_path("f32.gguf"), FileAccess::map, note);
  CHECK(calls == std::vector<std::pair<index_t, index_t>>{{1, 2}, {2, 2}});
}

TEST_CASE("load: static sizes are checked before weights are read") {
  int calls = 0;
  const auto count = [&](index_t, index_t) { ++calls; };
  CHECK_THROWS_WITH_AS(
      load<presets::smollm2_135m.dims>(tiny_path("f32.gguf"), FileAccess::map, count),
      "Decoder: the configuration must have the decoder's static sizes: decoder[layers=30], "
      "config[layers=2]",
      ShapeError);
  CHECK(calls == 0);
}

TEST_CASE("load: what is not a model") {
  CHECK_THROWS_AS(load("/nowhere/model.gguf"), FormatError);
  CHECK_THROWS_AS(load(tiny_path("make.py")), FormatError);
  CHECK_THROWS_WITH_AS(load(IMBREX_GOLDEN_DIR "/tokenizers/smollm.gguf"),
                       doctest::Contains("smollm.gguf: missing key ("), FormatError);
}

TEST_CASE("load: a tensor that is missing") {
  CHECK(complaint_of(DraftModel()) == "nothing");
  const DraftModel whole;
  for (const auto& [name, tensor] : whole.tensors) {
    CAPTURE(name);
    const std::string said = with([&](DraftModel& m) { m.tensors.erase(name); });
    if (name == "output.weight") {
      CHECK(said == "nothing");  // the head is the embedding then
    } else {
      CHECK(said == "draft.gguf: missing tensor (" + name + ")");
    }
  }
  // What the first block has, the others must have.
  CHECK(with([](DraftModel& m) {
          m.tensor("blk.0.attn_q.bias", {32}).tensor("blk.0.attn_k.bias", {16});
          m.tensor("blk.0.attn_v.bias", {16}).tensor("blk.1.attn_q.bias", {32});
          m.tensor("blk.1.attn_k.bias", {16});
        }) == "draft.gguf: missing tensor (blk.1.attn_v.bias)");
  CHECK(with([](DraftModel& m) {
          for (const std::string b : {"blk.0.", "blk.1."}) {
            m.tensor(b + "attn_q.bias", {32}).tensor(b + "attn_k.bias", {16});
            m.tensor(b + "attn_v.bias", {16}).tensor(b + "attn_output.bias", {32});
            m.tensor(b + "ffn_gate.bias", {64}).tensor(b + "ffn_up.bias", {64});
            m.tensor(b + "ffn_down.bias", {32});
          }
        }) == "nothing");
}

TEST_CASE("load: a tensor of the wrong shape") {
  const auto shaped = [](const std::string& name, std::vector<index_t> dims) {
    return with([&](DraftModel& m) { m.tensor(name, dims); });
  };
  CHECK(shaped("blk.1.attn_q.weight", {32, 31}) ==
        "draft.gguf: wrong shape (blk.1.attn_q.weight): expected [32, 32] for "
        "[Heads=4, HeadDim=8, Model=32], got [32, 31]");
  CHECK(shaped("blk.0.attn_k.weight", {16, 32}) ==
        "draft.gguf: wrong shape (blk.0.attn_k.weight): expected [32, 16] for "
        "[KvHeads=2, HeadDim=8, Model=32], got [16, 32]");
  CHECK(shaped("blk.0.ffn_down.weight", {32, 64}) ==
        "draft.gguf: wrong shape (blk.0.ffn_down.weight): expected [64, 32] for "
        "[Model=32, Hidden=64], got [32, 64]");
  CHECK(shaped("output_norm.weight", {33}) ==
        "draft.gguf: wrong shape (output_norm.weight): expected [32] for [Model=32], got [33]");
  CHECK(shaped("output_norm.weight", {1, 32}) ==
        "draft.gguf: wrong shape (output_norm.weight): expected [32] for [Model=32], got [1, 32]");
  CHECK(shaped("output.weight", {32, 40, 2}) ==
        "draft.gguf: wrong shape (output.weight): expected [32, 40] for [Vocab=40, Model=32], "
        "got [32, 40, 2]");
  CHECK(shaped("output.weight", {32, 41})
            .starts_with("draft.gguf: wrong shape (output.weight): expected [32, 40]"));
  CHECK(shaped("blk.0.ffn_up.weight", {0, 64})
            .starts_with("draft.gguf: wrong shape (blk.0.ffn_up.weight): expected [32, 64]"));
  CHECK(shaped("token_embd.weight", {16, 40}) ==
        "draft.gguf: wrong shape (token_embd.weight): expected [32, 40] for [Vocab=40, Model=32], "
        "got [16, 40]");
  // Ones behind the last axis change nothing.
  CHECK(shaped("output_norm.weight", {32, 1}) == "nothing");
}

TEST_CASE("load: a tensor in a format that cannot be computed with") {
  const auto typed = [](const std::string& name, std::vector<index_t> dims, GgufType type) {
    return with([&](DraftModel& m) { m.tensor(name, dims, type); });
  };
  const std::string head =
      "draft.gguf: a format that cannot be computed with (blk.0.attn_q.weight): "
      "expected F32, F16, BF16, Q4_0 to Q8_0 or Q2_K to Q6_K, got ";
  CHECK(typed("blk.0.attn_q.weight", {32, 32}, GgufType::i32) == head + "I32");
  CHECK(typed("blk.0.attn_q.weight", {32, 32}, GgufType::f64) == head + "F64");
  CHECK(typed("blk.0.attn_q.weight", {32, 32}, GgufType::iq4_nl) == head + "IQ4_NL");
  CHECK(typed("blk.0.attn_q.weight", {32, 32}, GgufType::q8_1) == head + "Q8_1");
  CHECK(typed("blk.0.attn_norm.weight", {32}, GgufType::i8)
            .starts_with("draft.gguf: a format that cannot be computed with"));
  CHECK(typed("blk.0.attn_norm.weight", {32}, GgufType::q8_0) ==
        "draft.gguf: a vector in a format for matrices (blk.0.attn_norm.weight): expected F32, F16 "
        "or "
        "BF16, got Q8_0");
  for (const GgufType type :
       {GgufType::f16, GgufType::bf16, GgufType::q4_0, GgufType::q5_1, GgufType::q8_0}) {
    CHECK(typed("blk.0.attn_q.weight", {32, 32}, type) == "nothing");
  }
  CHECK(typed("blk.0.attn_norm.weight", {32}, GgufType::f16) == "nothing");
  CHECK(typed("blk.0.attn_norm.weight", {32}, GgufType::bf16) == "nothing");
}

TEST_CASE("load: a tensor that would be left out") {
  for (const char* name : {"extra.weight",
                           "blk.2.attn_q.weight",
                           "blk.99.ffn_up.weight",
                           "blk.00.attn_q.weight",
                           "blk.-1.attn_q.weight",
                           "blk.+1.attn_q.weight",
                           "blk.1.attn_q",
                           "blk.1.",
                           "blk.1",
                           "blk.",
                           "blk..attn_q.weight",
                           "blk.1.output.weight",
                           "attn_q.weight",
                           "blk.0.attn_q_norm.weight",
                           "blk.1.attn_q.bias",
                           "blk.18446744073709551617.attn_q.weight",
                           "blk.0.token_embd.weight",
                           "blk.0x1.attn_q.weight",
                           "BLK.0.attn_q.weight",
                           "blk.0.ffn_gate_exps.weight"}) {
    CAPTURE(name);
    CHECK(with([&](DraftModel& m) { m.tensor(name, {32, 32}); }) ==
          "draft.gguf: unknown tensor (" + std::string(name) +
              "): expected tensors of a llama decoder of 2 blocks, got " + name);
  }
  CHECK(with([&](DraftModel& m) {
          m.tensor("a\nb", {32});
        }).starts_with("draft.gguf: unknown tensor (a"));
  CHECK(with([&](DraftModel& m) { m.tensor("a\nb", {32}); }).find('\n') == std::string::npos);
  // A file that has more blocks than it says it has.
  CHECK(with([](DraftModel& m) {
          m.set("llama.block_count", std::uint32_t{1});
        }).starts_with("draft.gguf: unknown tensor (blk.1."));
}

TEST_CASE("load: factors of RoPE's frequencies") {
  const auto factors = [](const std::vector<float>& values) {
    return with([&](DraftModel& m) { m.vector("rope_freqs.weight", values); });
  };
  CHECK(factors({1, 2, 4, 8}) == "nothing");
  const std::string head =
      "draft.gguf: a factor that cannot divide a frequency (rope_freqs.weight): "
      "expected a positive number, got ";
  CHECK(factors({1, 0, 4, 8}) == head + "0.000000");
  CHECK(factors({1, 2, 4, -8}) == head + "-8.000000");
  CHECK(factors({std::nanf(""), 2, 4, 8}) == head + "nan");
  CHECK(factors({1, 2, HUGE_VALF, 8}) == head + "inf");
  CHECK(factors({1, 2, 4}) ==
        "draft.gguf: wrong shape (rope_freqs.weight): expected [4] for [RopePairs=4], got [3]");
  CHECK(factors({1, 2, 4, 8, 16}).starts_with("draft.gguf: wrong shape (rope_freqs.weight)"));
}

TEST_CASE("load: numbers of blocks that there are not") {
  CHECK(with([](DraftModel& m) { m.set("llama.block_count", std::uint32_t{0}); }) ==
        "llama.block_count = 0: expected 1 or more");
  CHECK(with([](DraftModel& m) { m.set("llama.block_count", std::int32_t{-1}); }) ==
        "llama.block_count = -1: expected 1 or more");
  CHECK(with([](DraftModel& m) { m.set("llama.block_count", std::uint64_t{1000000000000}); }) ==
        "draft.gguf: missing tensor (blk.2.attn_norm.weight)");
  CHECK(with([](DraftModel& m) {
          m.set("llama.block_count", ~std::uint64_t{0});
        }).starts_with("draft.gguf: wrong value (llama.block_count)"));
}

TEST_CASE("load: sizes whose products cannot be counted") {
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  const auto sizes = [](const char* key, std::uint64_t value) {
    return with([&](DraftModel& m) { m.set(key, value); });
  };
  for (const char* key : {"llama.embedding_length", "llama.feed_forward_length",
                          "llama.attention.head_count_kv", "llama.attention.key_length",
                          "llama.rope.dimension_count", "llama.attention.sliding_window"}) {
    CAPTURE(key);
    for (const std::uint64_t value : {huge, std::uint64_t{0x7fffffffffffffff}}) {
      if (std::string(key) == "llama.attention.sliding_window") {
        CHECK(sizes(key, value) == "nothing");
      } else {
        CHECK(sizes(key, value) != "nothing");
      }
    }
  }
  CHECK(
      with([](DraftModel& m) {
        m.set("llama.attention.head_count", std::uint64_t{1} << 32);
        m.set("llama.attention.head_count_kv", std::uint64_t{1} << 32);
        m.set("llama.attention.key_length", std::uint64_t{1} << 32);
      }) ==
      "llama.attention.key_length = 4294967296: expected at most 2147483647 with 4294967296 heads");
}

TEST_CASE("load: heads that do not divide") {
  CHECK(with([](DraftModel& m) { m.set("llama.attention.head_count_kv", std::uint32_t{3}); }) ==
        "heads = 4: expected a multiple of kv_heads = 3");
  CHECK(with([](DraftModel& m) { m.set("llama.attention.head_count", std::uint32_t{5}); }) ==
        "llama.attention.head_count = 5: expected a divisor of embedding_length, or "
        "attention.key_length");
}

TEST_CASE("load: an architecture that is not known, and a file without one") {
  CHECK(with([](DraftModel& m) { m.set("general.architecture", std::string("mamba")); }) ==
        "general.architecture = mamba: expected llama");
  for (const char* key : {"general.architecture", "llama.block_count", "llama.context_length",
                          "llama.embedding_length", "llama.feed_forward_length",
                          "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    CHECK(with([&](DraftModel& m) {
            m.keys.erase(key);
          }).starts_with("draft.gguf: missing key (" + std::string(key) + ")"));
  }
}

// Bytes of a sound file, changed or cut off at places that a generator picks: an error of the
// library or a model that computes something, and nothing else. (With sanitizers this finds what
// reads or computes past its bounds.)
TEST_CASE("load: damaged files are refused or computed with, whatever the damage") {
  Random random(20260101);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random.uniform_double() * static_cast<double>(n));
  };
  int refused = 0, loaded = 0;
  const auto damage = [&](const std::vector<std::byte>& sound, int times) {
    // Most of a file is numbers, which may be any; where it says what they are is at its start.
    const GgufFile file = GgufFile::parse(sound, "sound");
    index_t head = static_cast<index_t>(sound.size());
    for (const GgufTensor& tensor : file.tensors()) head = lesser(head, tensor.offset);
    for (int i = 0; i < times; ++i) {
      std::vector<std::byte> bytes = sound;
      const std::size_t area = i % 8 == 0 ? sound.size() : static_cast<std::size_t>(head);
      for (std::size_t change = 0; change <= below(3); ++change) {
        std::byte& b = bytes[below(area)];
        b = i % 2 == 0 ? b ^ std::byte(1u << below(8)) : std::byte(below(256));
      }
      if (i % 5 == 0) bytes.resize(below(sound.size()));
      (complaint_of(bytes) == "nothing" ? loaded : refused)++;
    }
  };
  damage(DraftModel().bytes(), 3000);
  for (const char* name : {"mixed", "kquant", "wide"}) {
    const std::string bytes = read_bytes(tiny_path(std::string(name) + ".gguf"));
    const auto span = std::as_bytes(std::span(bytes.data(), bytes.size()));
    damage(std::vector<std::byte>(span.begin(), span.end()), 100);
  }
  MESSAGE(refused << " refused, " << loaded << " loaded");
  CHECK(refused > 500);
  CHECK(loaded > 100);
}
