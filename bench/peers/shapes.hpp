// Models whose files bench/peers writes: published sizes, random weights, in any format that
// `kernels::encode` writes; and a tokenizer that says there is none.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imbrex/base/random.hpp"
#include "imbrex/base/threads.hpp"
#include "imbrex/checkpoint/tensor_table.hpp"
#include "imbrex/formats/gguf_writer.hpp"
#include "imbrex/kernels/quant/encode.hpp"
#include "imbrex/model/presets.hpp"
#include "imbrex/tensor/buffer.hpp"

namespace peers {

using namespace imbrex;

/// The shape of a name. Throws Error where there is none.
inline Config shape_named(std::string_view name) {
  if (name == "tinyllama-1.1b") return presets::tinyllama_1_1b;
  // The largest model of the "TinyStories" family of llama2.c, with room for long prompts.
  if (name == "llama-110m") {
    return {.dims = {12, 32000, 768, 12, 12, 64, 2048}, .context = 8192, .tie_embeddings = true};
  }
  if (name == "llama-3.2-1b") {  // without the scaling of RoPE, which costs no time
    Config config = presets::llama3_2_1b;
    config.rope.scaling = {};
    return config;
  }
  // So small that every program is done at once: for tests of the harness.
  if (name == "tiny") {
    return {.dims = {2, 512, 256, 4, 2, 64, 512}, .context = 1024, .tie_embeddings = true};
  }
  raise(Error("no such shape: " + printable(name)));
}

/// The format of a name, one that can be written. Throws Error.
inline Dtype format_named(std::string_view wanted) {
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_0, Dtype::q4_1}) {
    if (wanted == name(dtype)) return dtype;
  }
  raise(Error("no format that is written here: " + printable(wanted)));
}

inline GgufType file_type(Dtype dtype) {
  for (std::uint32_t i = 0; i < gguf_type_end; ++i) {
    if (std::string_view(name(static_cast<GgufType>(i))) == name(dtype)) {
      return static_cast<GgufType>(i);
    }
  }
  raise(Error("no type of file for a format"));
}

/// A matrix of uniform numbers of variance 1 / columns, so that activations keep their size. The
/// numbers are the same in every format and for any number of threads.
inline Buffer<std::byte> random_matrix(Dtype dtype, index_t rows, index_t columns,
                                       std::uint64_t seed) {
  const index_t stride = row_bytes(dtype, columns);
  Buffer<std::byte> bytes(rows * stride);
  const float size = std::sqrt(12.0f / static_cast<float>(columns));
  constexpr index_t run = 64;
  parallel_for(ceil_div(rows, run), [&](index_t part) {
    std::vector<float> numbers(static_cast<std::size_t>(columns));
    for (index_t i = part * run; i < lesser(rows, (part + 1) * run); ++i) {
      Random random(seed, static_cast<std::uint64_t>(i));
      for (float& x : numbers) x = size * (random.uniform() - 0.5f);
      kernels::encode(dtype, numbers.data(), columns, bytes.data() + i * stride);
    }
  });
  return bytes;
}

/// Writes the model of a shape to a file.
class ModelFile {
 public:
  ModelFile(const std::string& shape, Dtype dtype) : config_(shape_named(shape)), dtype_(dtype) {
    add_keys(shape);
    for (const TensorRow& row : tensor_table) {
      if (!row.wanted(config_)) continue;
      for (index_t b = 0; b < (row.in_block ? config_.dims.layers : 1); ++b) add_tensor(row, b);
    }
  }

  void write(const std::string& path) const { writer_.write(path); }

 private:
  void add_keys(const std::string& shape) {
    const Dims& d = config_.dims;
    const auto size = [&](const char* key, index_t value) {
      writer_.add(std::string("llama.") + key, static_cast<std::uint32_t>(value));
    };
    writer_.add("general.architecture", std::string("llama"));
    writer_.add("general.name", shape + ", random weights");
    size("context_length", config_.context);
    size("embedding_length", d.model);
    size("block_count", d.layers);
    size("feed_forward_length", d.hidden);
    size("attention.head_count", d.heads);
    size("attention.head_count_kv", d.kv_heads);
    size("rope.dimension_count", d.head_dim);
    size("vocab_size", d.vocab);
    writer_.add("llama.attention.layer_norm_rms_epsilon", static_cast<float>(config_.norm_eps));
    writer_.add("llama.rope.freq_base", static_cast<float>(config_.rope.theta));
    writer_.add("tokenizer.ggml.model", std::string("none"));
  }

  void add_tensor(const TensorRow& row, index_t block) {
    const auto product = [&](const TensorAxis(&axes)[2]) {
      return size_of(axes[0], config_) * size_of(axes[1], config_);
    };
    const index_t outs = product(row.out), ins = product(row.in);
    const std::string name =
        (row.in_block ? "blk." + std::to_string(block) + "." : "") + std::string(row.name);
    if (row.is_matrix()) {
      tensors_.push_back(random_matrix(dtype_, outs, ins, tensors_.size() + 1));
      const index_t dims[] = {ins, outs};
      writer_.add_tensor(name, file_type(dtype_), dims, bytes());
    } else {  // a norm
      tensors_.push_back(Buffer<std::byte>(outs * index_t{sizeof(float)}));
      const std::vector<float> ones(static_cast<std::size_t>(outs), 1.0f);
      kernels::encode(Dtype::f32, ones.data(), outs, tensors_.back().data());
      const index_t dims[] = {outs};
      writer_.add_tensor(name, GgufType::f32, dims, bytes());
    }
  }

  std::span<const std::byte> bytes() const {
    return {tensors_.back().data(), static_cast<std::size_t>(tensors_.back().size())};
  }

  Config config_;
  Dtype dtype_;
  std::vector<Buffer<std::byte>> tensors_;  // the writer does not copy
  GgufWriter writer_;
};

}  // namespace peers
