// Reads GGUF, versions 2 and 3 (specification: github.com/ggml-org/ggml, docs/gguf.md).
//
//   "GGUF", version u32, tensors u64, keys u64
//   keys    x (key string, type u32, value)
//   tensors x (name string, rank u32, rank x dim u64, type u32, offset u64)
//   padding to the alignment, then the tensors' bytes; offsets count from here
//
// A file is not trusted: each length is checked against what is left, each count against the
// fewest bytes its entries take, each product against overflow. Memory used is at most a small
// multiple of the bytes that describe it.
//
// Where specification and ggml differ about `general.alignment`, either is accepted: a power of two
// (ggml; 1 is one) or a multiple of 8 (the specification). Nothing here needs aligned data. Tensors
// may be listed in any order, but in the file they follow each other with nothing between them but
// padding: that, not the alignment alone, gives away offsets made for another alignment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/formats/byte_reader.hpp"
#include "imbrex/formats/gguf_tensor.hpp"
#include "imbrex/formats/gguf_value.hpp"

namespace imbrex::inline IMBREX_ABI {

/// The first four bytes, the version that is written, and limits of the format.
inline constexpr std::uint32_t gguf_magic = 0x46554747;  // "GGUF"
inline constexpr std::uint32_t gguf_version = 3;
inline constexpr index_t gguf_default_alignment = 32;
inline constexpr index_t gguf_max_key_bytes = 65535;
inline constexpr index_t gguf_max_name_bytes = 64;          ///< the specification's
inline constexpr index_t gguf_max_written_name_bytes = 63;  ///< ggml has room for no more

/// One key of the metadata; both parts point into the file's bytes.
struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

/// What a file says, in the file's order, and both lists sorted by name for look-ups.
struct GgufContents {
  std::uint32_t version = gguf_version;
  index_t alignment = gguf_default_alignment;
  std::vector<GgufEntry> entries;
  std::vector<GgufTensor> tensors;
  std::vector<std::uint32_t> entries_by_key, tensors_by_name;  ///< indices
};

}  // namespace imbrex::inline IMBREX_ABI

namespace imbrex::gguf::inline IMBREX_ABI {

/// Reads a whole file's description. Throws FormatError.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view file)
      : in_(bytes, file), bytes_(bytes) {}

  GgufContents read() {
    read_header();
    for (index_t i = 0; i < entry_count_; ++i) read_entry();
    contents_.entries_by_key =
        sorted(contents_.entries, [](const GgufEntry& e) { return e.key; }, "key");
    read_alignment();
    for (index_t i = 0; i < tensor_count_; ++i) read_tensor();
    contents_.tensors_by_name =
        sorted(contents_.tensors, [](const GgufTensor& t) { return t.name; }, "tensor");
    place_tensors();
    return std::move(contents_);
  }

 private:
  // Arrays inside arrays: deep enough for anything sensible, shallow enough for the stack.
  static constexpr int max_depth = 8;

  // A key of one letter with a value of one byte; a name of one letter and no axes.
  static constexpr index_t least_entry_bytes = 8 + 1 + 4 + 1;
  static constexpr index_t least_tensor_bytes = 8 + 1 + 4 + 4 + 8;

  void read_header() {
    const auto magic = in_.number<std::uint32_t>("magic");
    if (magic != gguf_magic) in_.fail_at(0, "is not a GGUF file", "\"GGUF\"");
    contents_.version = in_.number<std::uint32_t>("version");
    const std::uint32_t version = contents_.version;
    if ((version & 0xFFFFu) == 0 && version != 0) {
      in_.fail_at(4, "is a big-endian GGUF file", "a little-endian one");
    }
    if (version < 2 || version > gguf_version) {
      in_.fail_at(4, "unsupported GGUF version", "2 or 3", std::to_string(version));
    }
    tensor_count_ = in_.count(least_tensor_bytes, "number of tensors");
    entry_count_ = in_.count(least_entry_bytes, "number of keys");
    if (tensor_count_ > max_entries) in_.fail_at(8, "too many tensors");
    if (entry_count_ > max_entries) in_.fail_at(16, "too many keys");
  }

  void read_entry() {
    const index_t start = in_.position();
    const std::string_view key = in_.text("length of a key");
    if (key.empty()) in_.fail_at(start, "empty key");
    if (static_cast<index_t>(key.size()) > gguf_max_key_bytes) {
      in_.fail_at(start, "key too long", "at most 65535 bytes", std::to_string(key.size()), key);
    }
    const GgufValueType type = read_type(key);
    contents_.entries.push_back({key, read_value(type, key, 0)});
  }

  GgufValueType read_type(std::string_view key) {
    const index_t start = in_.position();
    const auto type = in_.number<std::uint32_t>("type of a value");
    if (type >= gguf_value_type_count) {
      in_.fail_at(start, "unknown type of value", "0 to 12", std::to_string(type), key);
    }
    return static_cast<GgufValueType>(type);
  }

  GgufValue read_value(GgufValueType type, std::string_view key, int depth) {
    const index_t start = in_.position();
    if (type == GgufValueType::array) return read_array(key, depth);
    if (type == GgufValueType::string) {
      in_.text("length of a string");
    } else {
      check_bools(type, in_.take(fixed_bytes(type), "a value"), key);
    }
    return {type, in_.since(start)};
  }

  GgufValue read_array(std::string_view key, int depth) {
    if (depth == max_depth) in_.fail("arrays nested too deeply", "at most 8 levels", {}, key);
    const GgufValueType type = read_type(key);
    const index_t count = in_.count(least_bytes(type), "length of an array");
    const index_t start = in_.position();
    if (fixed_bytes(type) != 0) {
      check_bools(type, in_.take(count * fixed_bytes(type), "an array"), key);
    } else {
      for (index_t i = 0; i < count; ++i) read_value(type, key, depth + 1);
    }
    return GgufValue::array(type, count, in_.since(start));
  }

  void check_bools(GgufValueType type, std::span<const std::byte> bytes, std::string_view key) {
    if (type != GgufValueType::boolean) return;
    for (const std::byte b : bytes) {
      if (b > std::byte{1}) {
        in_.fail("invalid BOOL", "0 or 1", std::to_string(std::to_integer<int>(b)), key);
      }
    }
  }

  void read_alignment() {
    for (const GgufEntry& entry : contents_.entries) {
      if (entry.key != "general.alignment") continue;
      const bool right_type = entry.value.type() == GgufValueType::uint32;
      const index_t a = right_type ? *entry.value.to<index_t>() : 0;
      const bool power_of_two = a > 0 && (a & (a - 1)) == 0;
      if (!power_of_two && (a == 0 || a % 8 != 0)) {
        in_.fail("bad alignment", "UINT32, a power of two or a multiple of 8",
                 entry.value.describe(), entry.key);
      }
      contents_.alignment = a;
    }
  }

  /// What the list says of a tensor; `offset` as it stands there, until place_tensors().
  void read_tensor() {
    const index_t start = in_.position();
    GgufTensor tensor;
    tensor.name = in_.text("length of a tensor's name");
    if (tensor.name.empty()) in_.fail_at(start, "tensor without a name");
    if (static_cast<index_t>(tensor.name.size()) > gguf_max_name_bytes) {
      in_.fail_at(start, "tensor name too long", "at most 64 bytes",
                  std::to_string(tensor.name.size()), tensor.name);
    }
    const auto rank = in_.number<std::uint32_t>("number of axes");
    if (rank > gguf_max_rank) {
      in_.fail("too many axes", "at most 4", std::to_string(rank), tensor.name);
    }
    tensor.rank = static_cast<int>(rank);
    for (std::uint32_t i = 0; i < rank; ++i) {
      tensor.dims[i] = read_index("size of an axis", tensor.name);
    }
    const auto type = in_.number<std::uint32_t>("type of a tensor");
    if (!is_gguf_type(type)) {
      in_.fail("unknown type of tensor", {}, std::to_string(type), tensor.name);
    }
    tensor.type = static_cast<GgufType>(type);
    tensor.bytes = gguf_tensor_bytes(tensor.type, tensor.dims);
    if (tensor.bytes < 0) fail_size(tensor);
    tensor.offset = read_index("offset of a tensor", tensor.name);
    contents_.tensors.push_back(tensor);
  }

  [[noreturn]] void fail_size(const GgufTensor& tensor) const {
    const GgufTypeTraits& t = traits(tensor.type);
    if (tensor.dims[0] % t.block != 0) {
      in_.fail("rows are not whole blocks of " + std::string(t.name),
               "a multiple of " + std::to_string(t.block), std::to_string(tensor.dims[0]),
               tensor.name);
    }
    in_.fail("tensor too large", "a size of 63 bits", tensor.shape(), tensor.name);
  }

  /// A 64-bit number that must be an index.
  index_t read_index(const char* what, std::string_view name) {
    const index_t start = in_.position();
    const auto n = in_.number<std::uint64_t>(what);
    if (n > static_cast<std::uint64_t>((std::numeric_limits<index_t>::max)())) {
      in_.fail_at(start, std::string(what) + " is too large", "at most 2^63 - 1", std::to_string(n),
                  name);
    }
    return static_cast<index_t>(n);
  }

  /// Checks the offsets against alignment, each other and the end of the file, and makes them
  /// positions in the file.
  void place_tensors() {
    std::vector<GgufTensor*> in_order;
    in_order.reserve(contents_.tensors.size());
    for (GgufTensor& tensor : contents_.tensors) in_order.push_back(&tensor);
    // An empty tensor lies where the next one starts: it comes before it.
    std::sort(in_order.begin(), in_order.end(), [](const GgufTensor* a, const GgufTensor* b) {
      return a->offset != b->offset ? a->offset < b->offset : a->bytes < b->bytes;
    });
    const index_t size = static_cast<index_t>(bytes_.size());
    const index_t base = padded(in_.position());
    index_t end = 0;  // of the tensors so far, from `base`
    for (GgufTensor* tensor : in_order) {
      if (tensor->offset != padded(end)) {
        in_.fail_at(base, "bad tensor offset", std::to_string(padded(end)),
                    std::to_string(tensor->offset), tensor->name);
      }
      // `end` and `base` are at most about the file's size: their sum cannot overflow.
      const index_t room = size - base - tensor->offset;
      if (tensor->bytes > 0 && tensor->bytes > room) {
        in_.fail_at(base + tensor->offset, "tensor data runs past the end of the file",
                    std::to_string(tensor->bytes) + " bytes",
                    std::to_string(greater(room, 0)) + " bytes", tensor->name);
      }
      end = tensor->offset + tensor->bytes;
      tensor->offset += base;
      if (tensor->bytes > 0) tensor->data = bytes_.data() + tensor->offset;
    }
  }

  /// `position`, rounded up to the alignment.
  index_t padded(index_t position) const {
    return ceil_div(position, contents_.alignment) * contents_.alignment;
  }

  /// The indices of `list` by name. Throws where two are the same.
  template <class List, class NameOf>
  std::vector<std::uint32_t> sorted(const List& list, NameOf name_of, const char* what) const {
    std::vector<std::uint32_t> order(list.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return name_of(list[a]) < name_of(list[b]);
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (name_of(list[order[i - 1]]) == name_of(list[order[i]])) {
        in_.fail("duplicate " + std::string(what), {}, {}, name_of(list[order[i]]));
      }
    }
    return order;
  }

  static constexpr index_t max_entries = (std::numeric_limits<std::uint32_t>::max)();

  ByteReader in_;
  std::span<const std::byte> bytes_;
  index_t tensor_count_ = 0, entry_count_ = 0;
  GgufContents contents_;
};

}  // namespace imbrex::gguf::inline IMBREX_ABI
