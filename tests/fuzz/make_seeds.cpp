// Writes what the fuzzers start from: make_seeds FOLDER, for tests/fuzz/corpus. The files of gguf/
// came from Python's gguf and by hand.
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "imbrex/formats/gguf_writer.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "tests/text/tiny_vocabulary.hpp"

using namespace imbrex;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void write(const fs::path& path, const GgufWriter& writer) {
  const std::vector<std::byte> bytes = writer.to_bytes();
  write(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Adds a matrix (or vector) of a slope of numbers.
void add(GgufWriter& writer, const std::string& name, std::vector<index_t> dims,
         Dtype dtype = Dtype::f32) {
  index_t count = 1;
  for (const index_t dim : dims) count *= dim;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>(i % 7 - 3) / 4;
  }
  static std::deque<std::vector<std::byte>> kept;  // a writer does not copy
  std::vector<std::byte>& bytes =
      kept.emplace_back(static_cast<std::size_t>(row_bytes(dtype, count)));
  kernels::encode(dtype, values.data(), count, bytes.data());
  writer.add_tensor(name, to_gguf_type(dtype), dims, bytes);
}

/// A model of one block; `width` a multiple of 32 where matrices are quantised.
GgufWriter model(index_t width, index_t heads, index_t kv_heads, Dtype dtype, bool everything) {
  GgufWriter w;
  const index_t head = width / heads, kv = head * kv_heads, vocab = 5;
  w.add("general.architecture", "llama");
  w.add("llama.block_count", std::uint32_t{1});
  w.add("llama.embedding_length", static_cast<std::uint32_t>(width));
  w.add("llama.feed_forward_length", static_cast<std::uint32_t>(width));
  w.add("llama.attention.head_count", static_cast<std::uint32_t>(heads));
  w.add("llama.attention.head_count_kv", static_cast<std::uint32_t>(kv_heads));
  w.add("llama.context_length", std::uint32_t{8});
  w.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  if (everything) {
    w.add("llama.attention.sliding_window", std::uint32_t{2});
    w.add("llama.rope.freq_base", 5e5f);
    w.add("llama.rope.dimension_count", static_cast<std::uint32_t>(head));
    w.add("llama.rope.scaling.type", "yarn");
    w.add("llama.rope.scaling.factor", 4.0f);
    w.add("llama.rope.scaling.original_context_length", std::uint32_t{4});
    w.add("llama.vocab_size", static_cast<std::uint32_t>(vocab));
    add(w, "output.weight", {width, vocab}, dtype);
    add(w, "blk.0.attn_q.bias", {width});
    add(w, "blk.0.attn_k.bias", {kv});
    add(w, "blk.0.attn_v.bias", {kv});
  }
  add(w, "token_embd.weight", {width, vocab}, dtype);
  add(w, "output_norm.weight", {width});
  add(w, "blk.0.attn_norm.weight", {width});
  add(w, "blk.0.ffn_norm.weight", {width});
  add(w, "blk.0.attn_q.weight", {width, width}, dtype);
  add(w, "blk.0.attn_k.weight", {width, kv}, dtype);
  add(w, "blk.0.attn_v.weight", {width, kv}, dtype);
  add(w, "blk.0.attn_output.weight", {width, width}, dtype);
  add(w, "blk.0.ffn_gate.weight", {width, width}, dtype);
  add(w, "blk.0.ffn_up.weight", {width, width}, dtype);
  add(w, "blk.0.ffn_down.weight", {width, width}, dtype);
  return w;
}

GgufWriter vocabulary(const std::string& pattern) {
  GgufWriter w;
  const std::vector<std::string> tokens{
      "t", "h", "e", "th", "the", "\u0120", "\u010A", "<|im_start|>", "<|im_end|>", "word"};
  const std::vector<std::int32_t> types{1, 1, 1, 1, 1, 1, 1, 3, 3, 4};
  w.add("tokenizer.ggml.model", "gpt2");
  w.add("tokenizer.ggml.pre", pattern);
  w.add("tokenizer.ggml.tokens", tokens);
  w.add("tokenizer.ggml.token_type", types);
  w.add("tokenizer.ggml.merges", std::vector<std::string>{"t h", "th e"});
  w.add("tokenizer.ggml.bos_token_id", std::uint32_t{7});
  w.add("tokenizer.ggml.eos_token_id", std::uint32_t{8});
  w.add("tokenizer.ggml.add_bos_token", true);
  w.add("tokenizer.chat_template", "<|im_start|>system\\nBe kind.<|im_end|>");
  return w;
}

template <std::size_t N>
std::string_view raw(const char (&text)[N]) {
  return {text, N - 1};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const fs::path corpus = argv[1];
  write(corpus / "load/small.gguf", model(2, 1, 1, Dtype::f32, false));
  write(corpus / "load/whole.gguf", model(4, 2, 1, Dtype::f16, true));
  write(corpus / "load/quantised.gguf", model(32, 2, 2, Dtype::q4_0, false));
  for (const char* pattern : {"smollm", "llama-bpe", "qwen2", "gpt-2"}) {
    write(corpus / "vocabulary" / (std::string(pattern) + ".gguf"), vocabulary(pattern));
  }
  write(corpus / "chat/plain", raw("\0<|im_start|>system\\nBe kind.<|im_end|>\0user\0Who?\0"));
  write(corpus / "chat/names",
        raw("\1<|im_start|>\0system\0<|im_end|>\0user\0<|im_start|>user\nx\0"));
  write(corpus / "chat/another", raw("\0[INST]\0user\0x\0"));
  write(corpus / "json/config",
        "{\"model_type\":\"llama\",\"rope_scaling\":{\"factor\":32.0,\"low\":[1,-2,1e6,"
        "18446744073709551615]},\"tied\":true,\"head_dim\":null,\"name\":"
        "\"\\u00e9\\ud83d\\ude00\\n\"}");
  write(corpus / "json/all", " [[],{},\"\",0,-0.0,1E400,false] ");
  write(corpus / "json/twice", "{\"a\":1,\"a\":2}");
  write(corpus / "tokenizer/words", "The 12 cats don't\n\n sleep\t\u4E2D\u6587 <|im_end|> <t><t");
  write(corpus / "tokenizer/bytes", "\xFF\xFE\xE4\xB8 \xF0\x9F\x98\x80");
  write(corpus / "command_line/numbers", raw("\0--max-tokens\0"
                                             "12\0--seed\0-1\0--top-p\0"
                                             "0.9\0"));
  write(corpus / "command_line/whole",
        raw("\2--model\0m.gguf\0--prompt\0Hi\0--temperature\0nan\0--stop\0.\0--threads\0"
            "2\0"));
  write(corpus / "command_line/chat", raw("\3--model\0m\0--chat\0--system\0Be kind.\0--context\0"
                                          "9\0--no-map\0--quiet\0--help\0"));
  write(corpus / "command_line/maps", raw("\4--model\0m\0--tokens\0"
                                          "1,2,30\0--layer\0"
                                          "1\0--head\0"
                                          "0\0--svg\0s.svg\0"));
  write(corpus / "command_line/prefill", raw("\3smollm2-135m\0--dtype\0Q8_0\0--prompt\0"
                                             "16\0--threads\0"
                                             "2\0--counts\0"));
  write(corpus / "command_line/trace", raw("\4llama-2-7b\0--tokens\0"
                                           "8\0--batch\0"
                                           "2\0--layers\0"
                                           "3\0"));
  write(corpus / "command_line/online", raw("\0"
                                            "100\0"
                                            "32768\0"));
  write(corpus / "stop_text/two", raw("\2END\0ND\0text E\0N\0D more\0"));
  write(corpus / "stop_text/cut", raw("\1\xF0\x9F\x98\x80\0\xF0\0\x9F\0\x98\0\x80\0"));
  // Penalty, temperature, k, p, min-p, seed, recent tokens, calls, kind of logits, logits.
  write(corpus / "sampler/all", raw("\2\x60\2\x80\0\3\2\xE0\2\x10\7\2\1\2\1\1\10\0\5\xFB\1\1\2"));
  write(corpus / "sampler/greedy", raw("\2\xFF\2\0\1\0\2\xFF\2\0\7\0\0\0\0\0\x80\x3F\0\0\x80\xFF"));
  return 0;
}
