// What is in a GGUF file: its metadata, its tensors, the formats they are stored in, and whether
// they are the parameters that the metadata adds up to.
//
//   inspect model.gguf           blocks that are alike are listed once
//   inspect model.gguf --all     every tensor
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "imbrex/checkpoint/gguf_config.hpp"
#include "imbrex/checkpoint/gguf_weights.hpp"
#include "imbrex/model/ledger.hpp"
#include "model_argument.hpp"
#include "table.hpp"

using namespace imbrex;
using namespace examples;

namespace {

constexpr const char* usage =
    "usage: inspect FILE.gguf [--all]\n"
    "\n"
    "Lists what is in a GGUF file: metadata, tensors, formats, parameters.\n"
    "  --all     every tensor; without it, blocks like the one before are summed up in a line\n";

/// An array's first elements: a vocabulary has a hundred thousand.
std::string array_text(const GgufValue& array) {
  constexpr index_t shown = 3;
  std::string text = "[";
  const std::byte* next = array.payload().data();
  for (index_t i = 0; i < array.count() && i < shown; ++i) {
    const GgufValue element = gguf_value::value_at(array.element_type(), next);
    const std::string described = element.describe();
    text += (i > 0 ? ", " : "") + (element.type() == GgufValueType::array
                                       ? described
                                       : described.substr(described.find(' ') + 1));
    next = element.payload().data() + element.payload().size();
  }
  return text + (array.count() > shown ? ", ...]" : "]");
}

void print_metadata(const GgufFile& file) {
  Table table("lll");
  for (const GgufEntry& entry : file.metadata()) {
    const std::string described = entry.value.describe();  // "UINT32 7", "ARRAY of 2 STRING"
    const std::size_t space = described.find(' ');
    const bool array = entry.value.type() == GgufValueType::array;
    table.add({printable(entry.key), array ? described : described.substr(0, space),
               array ? array_text(entry.value) : described.substr(space + 1)});
  }
  table.print();
}

/// "[Heads=9, HeadDim=64, Model=576]" where the tensor is one that a decoder of this configuration
/// has; else the file's own "[576, 576]", the contiguous axis first.
std::string shape_text(const GgufTensor& tensor, const std::optional<Config>& config) {
  const TensorRow* row = gguf_weights::place_of(tensor.name).row;
  if (row == nullptr || !config) return tensor.shape();
  std::vector<const char*> names;
  std::vector<index_t> sizes;
  index_t outs = 1, ins = 1;
  const auto take = [&](TensorAxis axis, index_t& product) {
    if (axis == TensorAxis::none) return;
    names.push_back(name(axis));
    sizes.push_back(size_of(axis, *config));
    product *= sizes.back();
  };
  for (const TensorAxis axis : row->out) take(axis, outs);
  for (const TensorAxis axis : row->in) take(axis, ins);
  const std::array<index_t, 4> dims = row->is_matrix() ? std::array<index_t, 4>{ins, outs, 1, 1}
                                                       : std::array<index_t, 4>{outs, 1, 1, 1};
  if (tensor.dims != dims) return tensor.shape();
  return to_string(ShapeRef{"", names.data(), sizes.data(), static_cast<index_t>(names.size())});
}

/// Tensors that follow each other in the file and belong to one block, or to none.
struct Run {
  index_t block = -1;
  std::vector<const GgufTensor*> tensors;
  std::string signature;  ///< names without the block's number, formats and shapes
  index_t bytes = 0;
};

std::vector<Run> runs_of(const GgufFile& file) {
  std::vector<Run> runs;
  for (const GgufTensor& tensor : file.tensors()) {
    const gguf_weights::TensorPlace place = gguf_weights::place_of(tensor.name);
    const index_t block = place.row != nullptr ? place.block : -1;
    if (runs.empty() || runs.back().block != block) runs.push_back({block, {}, {}, 0});
    Run& run = runs.back();
    run.tensors.push_back(&tensor);
    run.bytes += tensor.bytes;
    if (block >= 0) {
      run.signature += std::string(place.row->name) + name(tensor.type) + tensor.shape();
    }
  }
  return runs;
}

void print_tensors(const GgufFile& file, const std::optional<Config>& config, bool all) {
  Table table("lllrr");
  table.add({"tensor", "format", "shape", "bytes", "offset"});
  const std::vector<Run> runs = runs_of(file);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::size_t last = i;  // of the blocks like the one before
    index_t bytes = 0;
    while (!all && i > 0 && last < runs.size() && runs[last].block >= 0 &&
           runs[last].signature == runs[i - 1].signature) {
      bytes += runs[last++].bytes;
    }
    if (last > i) {
      const std::string blocks = last - i > 1 ? " blocks like blk." : " block like blk.";
      table.add(
          {grouped(static_cast<index_t>(last - i)) + blocks + std::to_string(runs[i - 1].block), "",
           "", grouped(bytes), grouped(runs[i].tensors.front()->offset)});
      i = last - 1;
      continue;
    }
    for (const GgufTensor* tensor : runs[i].tensors) {
      table.add({printable(tensor->name), name(tensor->type), shape_text(*tensor, config),
                 grouped(tensor->bytes), grouped(tensor->offset)});
    }
  }
  table.print();
}

struct Sum {
  index_t tensors = 0, numbers = 0, bytes = 0;

  void add(const GgufTensor& tensor) {
    ++tensors;
    numbers += tensor.elements();
    bytes += tensor.bytes;
  }
  std::vector<std::string> cells(const char* title, const char* remark) const {
    const double bits =
        numbers > 0 ? 8 * static_cast<double>(bytes) / static_cast<double>(numbers) : 0;
    return {title, grouped(tensors), grouped(numbers), grouped(bytes), decimals(bits, 2), remark};
  }
};

/// Prints the sums by format, and returns how many numbers there are in all.
index_t print_formats(const GgufFile& file) {
  std::map<GgufType, Sum> formats;
  Sum all;
  for (const GgufTensor& tensor : file.tensors()) {
    formats[tensor.type].add(tensor);
    all.add(tensor);
  }
  Table table("lrrrrl");
  table.add({"format", "tensors", "numbers", "bytes", "bits each", ""});
  for (const auto& [type, sum] : formats) {
    table.add(sum.cells(name(type), to_dtype(type) ? "" : "cannot be computed with"));
  }
  table.add(all.cells("all", ""));
  table.print();
  return all.numbers;
}

/// The configuration, or why there is none.
std::optional<Config> config_of(const GgufFile& file, std::string& why) {
  try {
    return config_from_gguf(file);
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

void print_ledger(index_t numbers, const std::optional<Config>& config, const std::string& why) {
  if (!config) {
    std::printf("The library does not compute this model: %s\n", why.c_str());
    return;
  }
  const index_t expected = count_parameters(*config).total;
  std::printf("Parameters by the metadata: %s, ", grouped(expected).c_str());
  if (numbers == expected) {
    std::printf("as many as the tensors hold.\n");
  } else {
    std::printf("%s %s than the tensors hold.\n",
                grouped(numbers > expected ? numbers - expected : expected - numbers).c_str(),
                numbers > expected ? "fewer" : "more");
  }
}

void inspect(const std::string& path, bool all) {
  const GgufFile file = GgufFile::open(path);
  std::string why;
  const std::optional<Config> config = config_of(file, why);
  std::printf("GGUF version %u, %s keys, %s tensors aligned to %lld bytes\n\n", file.version(),
              grouped(static_cast<index_t>(file.metadata().size())).c_str(),
              grouped(static_cast<index_t>(file.tensors().size())).c_str(),
              static_cast<long long>(file.alignment()));
  print_metadata(file);
  std::printf("\n");
  print_tensors(file, config, all);
  std::printf("\n");
  const index_t numbers = print_formats(file);
  std::printf("\n");
  print_ledger(numbers, config, why);
}

bool run(int argc, char** argv) {
  CommandLine words(argc, argv);
  std::string path;
  bool all = false;
  while (!words.done()) {
    const std::string_view word = words.take();
    if (asks_for_help(word)) return false;
    if (word == "--all") {
      all = true;
    } else if (!path.empty() || word.empty() || word.starts_with("-")) {
      refuse(word);
    } else {
      path = word;
    }
  }
  if (path.empty()) raise(UsageError("expected a GGUF file; see --help"));
  inspect(path, all);
  return true;
}

}  // namespace

int main(int argc, char** argv) { return run_main("inspect", usage, argc, argv, run); }
