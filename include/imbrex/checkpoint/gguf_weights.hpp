// The weights of a GGUF file, each checked against the table of tensors.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "imbrex/base/function_ref.hpp"
#include "imbrex/checkpoint/tensor_table.hpp"
#include "imbrex/formats/gguf_file.hpp"
#include "imbrex/kernels/quant/decode.hpp"
#include "imbrex/model/decoder_weights.hpp"
#include "imbrex/tensor/shape_ref.hpp"

namespace imbrex::inline IMBREX_ABI {

/// Told how many tensors of how many have been read; may be empty.
using LoadProgress = FunctionRef<void(index_t done, index_t total)>;

namespace gguf_weights {

/// Where a tensor of a file belongs: the row of the table, and the block.
struct TensorPlace {
  const TensorRow* row = nullptr;
  index_t block = -1;
};

/// The place that a name says; no row where the table has none.
inline TensorPlace place_of(std::string_view name) {
  TensorPlace place;
  if (name.starts_with("blk.")) {
    const char* first = name.data() + 4;
    const char* last = name.data() + name.size();
    const auto [end, error] = std::from_chars(first, last, place.block);
    const bool canonical = error == std::errc() && place.block >= 0 &&
                           std::to_string(place.block) == std::string_view(first, end);
    if (!canonical || end == last || *end != '.') return {};
    name.remove_prefix(static_cast<std::size_t>(end + 1 - name.data()));
  }
  for (const TensorRow& row : tensor_table) {
    if (row.in_block == (place.block >= 0) && row.name == name) place.row = &row;
  }
  return place;
}

/// Reads tensors, and refuses what the table does not say.
class Reader {
 public:
  Reader(const GgufFile& file, const Config& config) : file_(file), config_(config) {}

  /// Throws FormatError for a tensor that no row, no block or this configuration knows: a part of
  /// the model that would be left out.
  void check_names() const {
    for (const GgufTensor& tensor : file_.tensors()) {
      const TensorPlace place = place_of(tensor.name);
      if (place.row == nullptr || place.block >= config_.dims.layers ||
          !place.row->wanted(config_)) {
        fail(tensor.name, "unknown tensor",
             "tensors of a llama decoder of " + std::to_string(config_.dims.layers) + " blocks",
             printable(tensor.name));
      }
    }
  }

  /// A matrix with the axes Os of outputs and Is of inputs; empty where it is not wanted.
  template <class Out, class In>
  Weight<Out, In> matrix(TensorPart part, index_t block = -1) const {
    const TensorRow& row = row_of(part);
    if (!row.wanted(config_)) return {};
    const GgufTensor& tensor = checked(row, block);
    return Weight<Out, In>(shape_of<Out>::from_sizes(sizes(row.out).data()),
                           shape_of<In>::from_sizes(sizes(row.in).data()), *tensor.dtype(),
                           tensor.data, tensor.bytes, file_.owner());
  }

  /// A vector in f32; empty where it is not wanted.
  std::vector<float> vector(TensorPart part, index_t block = -1) const {
    const TensorRow& row = row_of(part);
    if (!row.wanted(config_)) return {};
    const GgufTensor& tensor = checked(row, block);
    if (traits(*tensor.dtype()).block != 1) {
      fail(tensor.name, "a vector in a format for matrices", "F32, F16 or BF16",
           imbrex::name(*tensor.dtype()));
    }
    std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
    kernels::decode(*tensor.dtype(), tensor.data, tensor.elements(), values.data());
    return values;
  }

 private:
  std::array<index_t, 2> sizes(const TensorAxis (&axes_of_row)[2]) const {
    return {size_of(axes_of_row[0], config_), size_of(axes_of_row[1], config_)};
  }

  /// The tensor of a row, its dtype one that can be computed with and its shape the
  /// configuration's.
  const GgufTensor& checked(const TensorRow& row, index_t block) const {
    const std::string prefix = block >= 0 ? "blk." + std::to_string(block) + "." : "";
    const GgufTensor& tensor = file_.tensor(prefix + std::string(row.name));
    const index_t outs = sizes(row.out)[0] * sizes(row.out)[1];
    const index_t ins = sizes(row.in)[0] * sizes(row.in)[1];
    const bool fits = row.is_matrix() ? tensor.dims[0] == ins && tensor.dims[1] == outs
                                      : tensor.dims[0] == outs && tensor.dims[1] == 1;
    if (!fits || tensor.dims[2] != 1 || tensor.dims[3] != 1) {
      fail(tensor.name, "wrong shape", expected_shape(row), tensor.shape());
    }
    if (!tensor.dtype()) {
      fail(tensor.name, "a format that cannot be computed with",
           "F32, F16, BF16, Q4_0 to Q8_0 or Q2_K to Q6_K", imbrex::name(tensor.type));
    }
    return tensor;
  }

  /// "[576, 576] for [Heads=9, HeadDim=64, Model=576]", the file's order first.
  std::string expected_shape(const TensorRow& row) const {
    std::array<const char*, 4> names{};
    std::array<index_t, 4> axis_sizes{};
    std::size_t rank = 0;
    for (const TensorAxis axis : {row.out[0], row.out[1], row.in[0], row.in[1]}) {
      if (axis == TensorAxis::none) continue;
      names[rank] = imbrex::name(axis);
      axis_sizes[rank++] = size_of(axis, config_);
    }
    const std::string outs = std::to_string(sizes(row.out)[0] * sizes(row.out)[1]);
    const std::string ins = std::to_string(sizes(row.in)[0] * sizes(row.in)[1]);
    return "[" + (row.is_matrix() ? ins + ", " : "") + outs + "] for " +
           to_string(ShapeRef{"", names.data(), axis_sizes.data(), static_cast<index_t>(rank)});
  }

  [[noreturn]] void fail(std::string_view tensor, std::string problem, std::string expected,
                         std::string got) const {
    raise(FormatError({.file = file_.name(),
                       .problem = std::move(problem),
                       .tensor = printable(tensor),
                       .expected = std::move(expected),
                       .got = std::move(got)}));
  }

  const GgufFile& file_;
  const Config& config_;
};

inline BlockWeights read_block(const Reader& reader, index_t block) {
  using enum TensorPart;
  using M = Axes<Model<>>;
  using Q = Axes<Heads<>, HeadDim<>>;
  using KV = Axes<KvHeads<>, HeadDim<>>;
  using F = Axes<Hidden<>>;
  BlockWeights w;
  w.attention_norm = reader.vector(attention_norm, block);
  w.q = reader.matrix<Q, M>(q, block);
  w.k = reader.matrix<KV, M>(k, block);
  w.v = reader.matrix<KV, M>(v, block);
  w.out = reader.matrix<M, Q>(out, block);
  w.q_bias = reader.vector(q_bias, block);
  w.k_bias = reader.vector(k_bias, block);
  w.v_bias = reader.vector(v_bias, block);
  w.out_bias = reader.vector(out_bias, block);
  w.q_norm = reader.vector(q_norm, block);
  w.k_norm = reader.vector(k_norm, block);
  w.ffn_norm = reader.vector(ffn_norm, block);
  w.gate = reader.matrix<F, M>(gate, block);
  w.up = reader.matrix<F, M>(up, block);
  w.down = reader.matrix<M, F>(down, block);
  w.gate_bias = reader.vector(gate_bias, block);
  w.up_bias = reader.vector(up_bias, block);
  w.down_bias = reader.vector(down_bias, block);
  return w;
}

}  // namespace gguf_weights

/// The weights of `file` for a decoder of `config`: matrices point into the file and keep it alive,
/// vectors are copied to f32. Throws FormatError, with expected and actual, for a tensor that is
/// missing, has another shape or an unknown format, or that the decoder would not use.
inline DecoderWeights read_gguf_weights(const GgufFile& file, const Config& config,
                                        LoadProgress progress = {}) {
  const gguf_weights::Reader reader(file, config);
  reader.check_names();
  using M = Axes<Model<>>;
  using V = Axes<Vocab<>>;
  DecoderWeights weights;
  weights.embedding = reader.matrix<V, M>(TensorPart::token_embedding);
  weights.norm = reader.vector(TensorPart::output_norm);
  weights.head = reader.matrix<V, M>(TensorPart::output);
  weights.rope_factors = reader.vector(TensorPart::rope_factors);
  for (const float factor : weights.rope_factors) {
    if (!(factor > 0 && factor <= (std::numeric_limits<float>::max)())) {
      raise(FormatError({.file = file.name(),
                         .problem = "a factor that cannot divide a frequency",
                         .tensor = std::string(row_of(TensorPart::rope_factors).name),
                         .expected = "a positive number",
                         .got = std::to_string(factor)}));
    }
  }
  for (index_t i = 0; i < config.dims.layers; ++i) {
    weights.blocks.push_back(gguf_weights::read_block(reader, i));
    if (progress) progress(i + 1, config.dims.layers);
  }
  return weights;
}

}  // namespace imbrex::inline IMBREX_ABI
